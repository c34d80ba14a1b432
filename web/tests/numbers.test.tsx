import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Query, Row } from "@/lib/analyticsQuery";
import { api } from "@/lib/api";
import { type Draft, NEW_DRAFT } from "@/lib/queryDraft";
import { useResult } from "@/lib/runQuery";
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

const EMPTY = { totals: [], others: [], total: 1, truncated: false };

function Shown({ draft }: { draft: Draft }) {
  const { answer, query } = useResult(draft);
  return answer.data ? (
    <Numbers title="Errors" query={query} result={answer.data} height={86} />
  ) : null;
}

/** The bodies of the queries that were sent. */
const queries = () =>
  (post.mock.calls as unknown as [string, { body: Query }][])
    .filter(([path]) => path === "/api/analytics/query")
    .map(([, { body }]) => body);

/** Shows measures of two steps, and of the period before, which has none. */
async function show(measures: string[], now: Row, before: Row) {
  post.mockImplementation((async (_: string, options?: { body: Query }) => {
    const result = options?.body.granularity
      ? { rows: [now, now], totals: [now] }
      : { rows: [before] };
    return { data: { success: true, data: { ...EMPTY, ...result } }, response: new Response() };
  }) as never);
  const draft: Draft = { ...NEW_DRAFT, chart: "number", measures, step: "none" };
  const { container } = render(
    <QueryClientProvider client={new QueryClient()}>
      <Shown draft={draft} />
    </QueryClientProvider>,
  );
  await screen.findByRole("region", { name: "Errors" });
  await vi.waitFor(() => expect(queries()).toHaveLength(2));
  return container;
}

test("a rise of errors against the period before is bad, and has a trend", async () => {
  const container = await show(["errors"], { errors: 3, count: 90 }, { errors: 2, count: 80 });
  expect((await screen.findByText("+50%")).className).toContain("text-bad");
  expect(container.querySelector("svg path")).not.toBeNull();
  expect(queries()).toContainEqual(
    expect.objectContaining({
      measures: ["errors", "count"],
      startDate: "2026-03-06T00:00:00.000Z",
      endDate: "2026-03-08T00:00:00.000Z",
    }),
  );
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
  await Promise.all(post.mock.results.map(({ value }) => value));
  expect(screen.queryByTitle(/previous period/)).toBeNull();
});
