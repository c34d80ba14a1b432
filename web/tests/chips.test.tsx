import { cleanup, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { FilteredRowsContext, LOGS, TRACES } from "@/lib/filterFields";
import { UrlChips } from "@/ui/filters/Chips";

const state = vi.hoisted(() => ({ url: {} as Record<string, string | undefined> }));
vi.mock("@/lib/url", async (original) => ({
  ...(await original<object>()),
  useUrl: () => state.url,
  useSetUrl: () => () => {},
}));
vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<object>()),
  Link: ({ search, children }: { search: object; children: ReactNode }) => (
    <a href={`#${JSON.stringify(search)}`}>{children}</a>
  ),
}));
vi.mock("@/ui/filters/useConditionText", () => ({ useConditionText: () => "text" }));
vi.mock("@/ui/filters/ChipPopover", () => ({ default: () => null }));
afterEach(cleanup);

const two = { field: "model", op: "in", value: ["a", "b"] };
const more = { field: "tool", op: "exists" };

function show(url: Record<string, string>, rows = TRACES) {
  state.url = { ...url, filters: JSON.stringify([two, more]) };
  render(
    <FilteredRowsContext value={rows}>
      <UrlChips />
    </FilteredRowsContext>,
  );
  return screen.queryByRole("link", { name: "Compare" });
}

test("a comparison takes all filters of the list along", () => {
  const link = show({});
  const search = JSON.parse(decodeURIComponent(link?.getAttribute("href")?.slice(1) ?? "{}"));
  expect(search).toMatchObject({ by: "model", baseline: "a", candidate: "b" });
  expect(JSON.parse(search.filters)).toEqual([more]);
});

test("neither the result of a search nor logs are compared", () => {
  expect(show({ search: "words" })).toBeNull();
  expect(show({}, LOGS)).toBeNull();
});
