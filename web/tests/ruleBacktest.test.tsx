import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { AlertRule } from "@/lib/alerts";
import { RuleBacktest } from "@/ui/rules/RuleBacktest";

const answers: ((fired: number) => void)[] = [];
vi.mock("@/lib/api", async (original) => ({
  ...(await original<typeof import("@/lib/api")>()),
  unwrap: (answer: unknown) => answer,
  api: {
    POST: () =>
      new Promise((resolve) => {
        answers.push((fired) => {
          const backtest = { fired, windows: 10, skipped: 0, firings: [], points: [] };
          resolve({ end: "2026-11-15T00:00:00Z", rules: [backtest] });
        });
      }),
  },
}));
vi.mock("@/ui/rules/BacktestChart", () => ({
  BacktestChart: ({ rule }: { rule: AlertRule }) => <p>{`curve of ${rule.metric}`}</p>,
}));
afterEach(cleanup);

const RULE: AlertRule = {
  enabled: true,
  metric: "p95Latency",
  of: "traces",
  filters: [],
  condition: "above",
  threshold: 1000,
  windowMinutes: 60,
  forMinutes: 0,
  minSamples: 1,
  severity: "warning",
};

test("the curve stays for another threshold, and goes at once for another metric", async () => {
  const queries = new QueryClient();
  const of = (rule: AlertRule) => (
    <QueryClientProvider client={queries}>
      <RuleBacktest agentId={null} rule={rule} />
    </QueryClientProvider>
  );
  const { rerender } = render(of(RULE));
  act(() => answers.shift()?.(3));
  await screen.findByText("would have fired 3 times");
  const other = { ...RULE, threshold: 2000 };
  rerender(of(other));
  expect(screen.getByText("curve of p95Latency")).toBeTruthy();
  await waitFor(() => expect(answers).toHaveLength(1));
  expect(screen.getByText("curve of p95Latency")).toBeTruthy();
  act(() => answers.shift()?.(2));
  await screen.findByText("would have fired 2 times");
  rerender(of({ ...other, metric: "errorRate" }));
  expect(screen.queryByText(/curve of/)).toBeNull();
  await waitFor(() => expect(answers).toHaveLength(1));
  expect(screen.queryByText(/curve of|would have fired/)).toBeNull();
  act(() => answers.shift()?.(1));
  await screen.findByText("curve of errorRate");
});
