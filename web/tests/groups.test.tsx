import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { type GroupQuery, useGroups } from "@/lib/groups";

const answers: (() => void)[] = [];
vi.mock("@/lib/api", async (original) => ({
  ...(await original<typeof import("@/lib/api")>()),
  unwrap: (answer: unknown) => answer,
  api: {
    POST: (_: string, { body }: { body: { groupBy: string[] } }) =>
      new Promise((resolve) => {
        answers.push(() => resolve({ rows: body.groupBy.map((field) => ({ [field]: "x" })) }));
      }),
  },
}));
vi.mock("@/lib/range", () => ({ useRange: () => ({}), rangeQuery: () => ({}) }));

test("rows stay for another order, and go at once for another grouping", async () => {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const first: GroupQuery = { measures: ["count"], groupBy: ["tool"] };
  const hook = renderHook((query: GroupQuery) => useGroups(query), {
    wrapper,
    initialProps: first,
  });
  answers.pop()?.();
  await waitFor(() => expect(hook.result.current.data?.rows).toEqual([{ tool: "x" }]));

  hook.rerender({ ...first, orderBy: { field: "count", order: "asc" } });
  expect(hook.result.current.data?.rows).toEqual([{ tool: "x" }]);

  hook.rerender({ ...first, groupBy: ["model"] });
  expect(hook.result.current.data).toBeUndefined();
});
