import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SuggestInput } from "@/ui/query/SuggestInput";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function show(value: string) {
  const onChange = vi.fn();
  const make = (next: string) => (
    <SuggestInput label="Baseline" value={next} suggestions={[]} onChange={(to) => onChange(to)} />
  );
  const { rerender } = render(make(value));
  const field = screen.getByLabelText<HTMLInputElement>("Baseline");
  const type = (text: string) => fireEvent.change(field, { target: { value: text } });
  return { field, type, onChange, setValue: (next: string) => rerender(make(next)) };
}

const pause = () => act(() => void vi.advanceTimersByTime(1000));

test("the text stays in the focused field, selected", () => {
  const { field } = show("1.4.0");
  act(() => field.focus());
  expect(field.value).toBe("1.4.0");
  expect([field.selectionStart, field.selectionEnd]).toEqual([0, 5]);
});

test("a value is reported once, when typing pauses", () => {
  const { field, type, onChange, setValue } = show("1.4.0");
  type("1.5");
  type("1.5.0");
  pause();
  expect(onChange.mock.calls).toEqual([["1.5.0"]]);
  setValue("1.5.0");
  pause();
  fireEvent.blur(field);
  expect(onChange).toHaveBeenCalledTimes(1);
});

test("going back is not undone", () => {
  const { field, type, onChange, setValue } = show("1.4.0");
  type("1.5.0");
  pause();
  setValue("1.5.0");
  setValue("1.4.0");
  pause();
  expect(field.value).toBe("1.4.0");
  expect(onChange.mock.calls).toEqual([["1.5.0"]]);
});

test("an empty field asks for the default when it is left", () => {
  const { field, type, onChange, setValue } = show("1.5.0");
  type("");
  pause();
  expect(onChange).not.toHaveBeenCalled();
  fireEvent.blur(field);
  expect(onChange.mock.calls).toEqual([[""]]);
  setValue("1.4.0");
  expect(field.value).toBe("1.4.0");
});
