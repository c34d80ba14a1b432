import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { api } from "@/lib/api";
import { type Draft, NEW_DRAFT } from "@/lib/queryDraft";
import { useResult } from "@/lib/runQuery";

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

test("a result stays for another number of groups, and goes at once for other filters", async () => {
  const data = { rows: [{ count: 7 }], totals: [], others: [], total: 1, truncated: false };
  const answer = { data: { success: true, data }, response: new Response() };
  const post = vi.spyOn(api, "POST").mockResolvedValueOnce(answer as never);
  post.mockReturnValue(new Promise(() => {}) as never);
  const queries = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queries}>{children}</QueryClientProvider>
  );
  const { result, rerender } = renderHook(({ draft }) => useResult(draft).answer.data, {
    wrapper,
    initialProps: { draft: NEW_DRAFT },
  });
  await waitFor(() => expect(result.current?.rows).toEqual([{ count: 7 }]));
  const more: Draft = { ...NEW_DRAFT, limit: 50 };
  rerender({ draft: more });
  expect(result.current?.rows).toEqual([{ count: 7 }]);
  rerender({ draft: { ...more, filters: [{ field: "model", op: "eq", value: "large" }] } });
  expect(result.current).toBeUndefined();
  rerender({ draft: { ...more, of: "spans" } });
  expect(result.current).toBeUndefined();
});
