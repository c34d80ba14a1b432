import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Refresh } from "@/app/TopBar";

vi.mock("@/lib/url", async (original) => ({
  ...(await original<typeof import("@/lib/url")>()),
  useUrlState: () => ["10", () => {}],
}));

const hidden = vi.spyOn(document, "hidden", "get");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a hidden tab is not refreshed, and catches up when it is shown", () => {
  hidden.mockReturnValue(false);
  const queries = new QueryClient();
  const refreshed = vi.spyOn(queries, "invalidateQueries");
  render(
    <QueryClientProvider client={queries}>
      <Refresh />
    </QueryClientProvider>,
  );
  act(() => vi.advanceTimersByTime(10_000));
  expect(refreshed).toHaveBeenCalledTimes(1);
  hidden.mockReturnValue(true);
  act(() => vi.advanceTimersByTime(60_000));
  expect(refreshed).toHaveBeenCalledTimes(1);
  hidden.mockReturnValue(false);
  act(() => void document.dispatchEvent(new Event("visibilitychange")));
  expect(refreshed).toHaveBeenCalledTimes(2);
});
