import { describe, expect, it } from "vitest";
import { splitName } from "@/features/trace/SpanName";
import { comparisonSearch } from "@/lib/conditions";
import type { Column } from "@/ui/Table";
import { putSortedFirst } from "@/ui/tableColumns";

function column(id: string, more: Partial<Column<object>> = {}): Column<object> {
  return { id, header: id, width: "5rem", cell: () => id, sort: id, ...more };
}

describe("the columns of a table that is wider than the screen", () => {
  const columns = [
    column("time"),
    column("name", { leads: true, width: "16rem", narrowWidth: "11rem" }),
    column("tokens"),
    column("cost"),
  ];

  it("put the sorted one after the name", () => {
    const shown = putSortedFirst(columns, "cost");
    expect(shown.map(({ id }) => id)).toEqual(["name", "cost", "time", "tokens"]);
    expect(shown[0]?.width).toBe("11rem");
  });

  it.each(["time", "name", "unknown"])("stay as they are when sorted by %s", (sort) => {
    expect(putSortedFirst(columns, sort)).toBe(columns);
  });
});

it.each([
  ["execute_tool search_flights", ["execute_tool ", "search_flights"]],
  ["chat gpt-5", ["chat ", "gpt-5"]],
  ["chat", ["", "chat"]],
  ["plan the trip", ["", "plan the trip"]],
])("the operation of %s is told from its subject", (name, parts) => {
  expect(splitName(name)).toEqual(parts);
});

describe("a filter by two values", () => {
  const status = { field: "status", op: "eq" as const, value: "error" };

  it("can be compared, with the other filters", () => {
    const two = { field: "serviceVersion", op: "in" as const, value: ["10.0", "9.1"] };
    expect(comparisonSearch(two, [status])).toEqual({
      by: "serviceVersion",
      baseline: "9.1",
      candidate: "10.0",
      filters: JSON.stringify([status]),
    });
  });

  it.each([
    { field: "model", op: "in" as const, value: ["a", "b", "c"] },
    { field: "model", op: "eq" as const, value: "a" },
    { field: "name", op: "in" as const, value: ["a", "b"] },
    { field: "failure", op: "in" as const, value: ["a", "b"] },
    { field: "attribute:", op: "in" as const, value: ["a", "b"] },
  ])("is needed for a comparison: %o", (condition) => {
    expect(comparisonSearch(condition, [])).toBeNull();
  });
});
