import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { memo } from "react";
import { afterEach, expect, it } from "vitest";
import { setTimeZone } from "@/lib/timeZone";
import { useShownName, useTabTitle } from "@/lib/title";
import { Time } from "@/ui/Time";

afterEach(() => {
  cleanup();
  setTimeZone("local");
});

const Row = memo(() => (
  <>
    <input aria-label="Note" />
    <Time at="2026-11-17T09:00:01Z" as="full" />
  </>
));

it("shows times in another zone without losing what was typed", () => {
  const { container } = render(<Row />);
  fireEvent.input(screen.getByLabelText("Note"), { target: { value: "kept" } });
  act(() => setTimeZone("utc"));
  expect(container.querySelector("time")?.textContent).toContain("09:00:01");
  expect(screen.getByLabelText<HTMLInputElement>("Note").value).toBe("kept");
});

it("names the tab after what the page shows", () => {
  const Shown = ({ name }: { name?: string }) => {
    useShownName(name);
    return null;
  };
  const Frame = ({ children }: { children?: React.ReactNode }) => {
    useTabTitle("Agent");
    return children;
  };
  const { rerender } = render(<Frame />);
  expect(document.title).toBe("Agent · Spanwise");
  rerender(
    <Frame>
      <Shown name="support-assistant" />
    </Frame>,
  );
  expect(document.title).toBe("support-assistant · Agent · Spanwise");
  rerender(<Frame />);
  expect(document.title).toBe("Agent · Spanwise");
});
