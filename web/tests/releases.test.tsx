import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { ReleaseRows } from "@/features/agents/Releases";

afterEach(cleanup);
const ROW = { serviceVersion: "1.2.0", count: 4, errorRate: 0.25, p95: 1200, cost: 2 };

test("versions are compared by cost per trace", () => {
  render(<ReleaseRows rows={[ROW]} total={1} />);
  expect(screen.getByRole("columnheader", { name: "Cost per trace" })).toBeDefined();
  expect(screen.getByRole("columnheader", { name: "Error rate" })).toBeDefined();
  expect(screen.getByRole("cell", { name: "$0.50" })).toBeDefined();
  expect(screen.getByRole("cell", { name: "1.2.0" }).title).toBe("1.2.0");
  expect(screen.queryByText(/versions with the most traces/)).toBeNull();
});

test("versions that are not shown are mentioned", () => {
  render(<ReleaseRows rows={[ROW]} total={23} />);
  expect(screen.getByText(/versions with the most traces, of 23/)).toBeDefined();
});
