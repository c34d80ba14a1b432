import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { SilenceDialog } from "@/features/alerts/SilenceDialog";
import { ApiError, api } from "@/lib/api";
import { setTimeZone } from "@/lib/timeZone";

const SCOPE = { agentId: "a", ruleId: "r", agentName: "planner", ruleName: "Errors (planner)" };

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  setTimeZone("local");
});

function open() {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <SilenceDialog scope={SCOPE} onClose={() => undefined} />
    </QueryClientProvider>,
  );
}

function chooseUntil(value: string) {
  fireEvent.click(screen.getByLabelText("Until a date"));
  fireEvent.change(screen.getByLabelText("Until"), { target: { value } });
  fireEvent.click(screen.getByRole("button", { name: "Silence" }));
}

test("the title names what is silenced", () => {
  open();
  expect(screen.getByRole("dialog", { name: "Silence Errors (planner)" })).toBeDefined();
  fireEvent.click(screen.getByLabelText("All rules of planner"));
  expect(screen.getByRole("dialog", { name: "Silence planner" })).toBeDefined();
  fireEvent.click(screen.getByLabelText("The whole workspace"));
  expect(screen.getByRole("dialog", { name: "Silence the whole workspace" })).toBeDefined();
});

test("the end is in the chosen time zone", async () => {
  setTimeZone("utc");
  const post = vi.spyOn(api, "POST").mockReturnValue(new Promise(() => undefined));
  open();
  chooseUntil("2026-12-01T10:00");
  await waitFor(() => expect(post).toHaveBeenCalled());
  expect(post.mock.calls[0]?.[1]).toMatchObject({ body: { endsAt: "2026-12-01T10:00:00.000Z" } });
});

test("a rejected end is described at its field", async () => {
  const details = [{ field: "endsAt", message: "must be in the future" }];
  vi.spyOn(api, "POST").mockRejectedValue(
    new ApiError("endsAt: must be in the future", 400, "VALIDATION_ERROR", details),
  );
  open();
  chooseUntil("2026-01-01T10:00");
  const field = screen.getByLabelText("Until");
  await waitFor(() => expect(field.getAttribute("aria-invalid")).toBe("true"));
  const note = document.getElementById(field.getAttribute("aria-describedby") ?? "");
  expect(note?.textContent).toBe("Must be in the future");
});
