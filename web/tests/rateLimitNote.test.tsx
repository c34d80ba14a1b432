import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RateLimitNote } from "@/app/RateLimitNote";
import { announceWait } from "@/lib/rateLimit";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SHOWN = { ignore: "[role=status]" };

test("the wait for the rate limit is counted down and then gone", () => {
  render(<RateLimitNote />);
  act(() => announceWait(100, 23));
  // Requests that fail together wait together.
  act(() => announceWait(100, 23));
  const words = "Limit of 100 requests a minute reached. Continues in 23 s";
  expect(screen.getByText(words, SHOWN)).toBeTruthy();
  expect(screen.getByRole("status").textContent).toBe(words);
  act(() => vi.advanceTimersByTime(5000));
  expect(screen.getByText(/Continues in 18 s/, SHOWN)).toBeTruthy();
  act(() => vi.advanceTimersByTime(18_000));
  expect(screen.queryByText(/Continues/)).toBeNull();
});
