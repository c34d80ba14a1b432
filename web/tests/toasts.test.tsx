import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import Toasts, { showToast } from "@/ui/Toasts";

it("shows a message that was sent before the toasts were mounted", async () => {
  showToast("Saved early.", "good");
  render(<Toasts />);
  expect(await screen.findByText("Saved early.")).toBeTruthy();
  // A name at the beginning stays as it is.
  showToast("p95 watch was created.", "good");
  const name = await screen.findByText("p95 watch was created.");
  expect(name.closest("[class*=first-letter]")).toBeNull();
});
