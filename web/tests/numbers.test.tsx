import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Query, Row } from "@/lib/analyticsQuery";
import { api } from "@/lib/api";
import { Numbers } from "@/ui/query/Numbers";

vi.mock("@/lib/range", async (original) => ({
  ...(await original<typeof import("@/lib/range")>()),
  useRange: () => ({
    from: new Date("2026-03-08T00:00:00Z"),
    to: new Date("2026-03-10T00:00:00Z"),
    label: "",
    preset: null,
    problem: null,
  }),
}));

const post = vi.spyOn(api, "POST");

beforeEach(() => post.mockClear());
afterEach(cleanup);

const QUERY: Query = { of: "traces", measures: ["errors"], groupBy: [], filters: [], limit: 10 };

async function show(measures: string[], now: Row, before: Row) {
  const data = { rows: [before], totals: [], others: [], total: 1, truncated: false };
  const answer = { data: { success: true, data }, response: new Response() };
  post.mockResolvedValue(answer as never);
  const trend = [now, now];
  const { container } = render(
    <QueryClientProvider client={new QueryClient()}>
      <Numbers
        title="Errors"
        query={{ ...QUERY, measures }}
        result={{ rows: [now], trend, totals: [], others: [], total: 1, truncated: false }}
        height={86}
      />
    </QueryClientProvider>,
  );
  await vi.waitFor(() => expect(post).toHaveBeenCalled());
  return container;
}

test("a rise of errors against the period before is bad, and has a trend", async () => {
  const container = await show(["errors"], { errors: 3, count: 90 }, { errors: 2, count: 80 });
  expect((await screen.findByText("+50%")).className).toContain("text-bad");
  expect(container.querySelector("svg path")).not.toBeNull();
  expect(post.mock.calls[0]?.[1]).toMatchObject({
    body: {
      measures: ["errors", "count"],
      startDate: "2026-03-06T00:00:00.000Z",
      endDate: "2026-03-08T00:00:00.000Z",
    },
  });
});

test("a rise of traffic is neutral, a fall of latency good, a rate changes by points", async () => {
  await show(
    ["count", "p95", "errorRate"],
    { count: 90, p95: 50, errorRate: 0.1 },
    { count: 60, p95: 100, errorRate: 0.05 },
  );
  expect((await screen.findByText("+50%")).className).toContain("text-muted");
  expect(screen.getByText("−50%").className).toContain("text-good");
  expect(screen.getByText("+5.0 pts").className).toContain("text-bad");
});

test("a period with hardly any traffic is not compared with", async () => {
  await show(["errors"], { errors: 3, count: 90 }, { errors: 1, count: 1 });
  await vi.waitFor(() => expect(post.mock.results[0]?.type).toBe("return"));
  expect(screen.queryByTitle(/previous period/)).toBeNull();
});
