import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Condition } from "@/lib/conditions";
import { ConditionForm } from "@/ui/filters/ConditionForm";
import type { Suggestion } from "@/ui/filters/useSuggestions";

const state = vi.hoisted(() => ({
  found: undefined as Suggestion[] | undefined,
  asked: [] as string[],
}));
vi.mock("@/ui/filters/useSuggestions", () => ({
  useValues: (_field: string, search: string, isEnabled: boolean) => {
    if (isEnabled) state.asked.push(search);
    return { data: state.found, isPending: state.found === undefined, error: null };
  },
}));
vi.mock("@/ui/filters/useConditionText", () => ({
  useConditionLabels: (_field: string, values: string[]) => values,
}));

beforeEach(() => {
  vi.useFakeTimers();
  state.found = undefined;
  state.asked = [];
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function show(field: string, before?: Condition[]) {
  const onDone = vi.fn();
  const form = <ConditionForm field={field} {...(before && { before })} onDone={onDone} />;
  const { rerender } = render(form);
  const answer = (...names: string[]) => {
    state.found = names.map((name) => ({ name, count: 1 }));
    act(() => void vi.advanceTimersByTime(1000));
    rerender(<ConditionForm field={field} {...(before && { before })} onDone={onDone} />);
  };
  return { onDone, answer };
}

const type = (name: string, value: string) =>
  fireEvent.change(screen.getByLabelText(name), { target: { value } });
const submit = () => {
  const form = document.querySelector("form");
  if (form) fireEvent.submit(form);
};

test("text that is only a part of a value is itself a value", () => {
  const { onDone, answer } = show("environment");
  type("Search values", "prod");
  answer("production");
  expect(screen.getByRole("checkbox", { name: /production/ })).toBeDefined();
  expect(screen.getByText("Enter adds “prod”, not a value above.")).toBeDefined();
  submit();
  expect(onDone).toHaveBeenCalledWith([{ field: "environment", op: "eq", value: "prod" }]);
});

test("text that differs from a value only in case means the value", () => {
  const { onDone, answer } = show("environment");
  type("Search values", "PRODUCTION");
  answer("production", "production-eu");
  submit();
  expect(onDone).toHaveBeenCalledWith([{ field: "environment", op: "eq", value: "production" }]);
});

test("a form submitted too early waits for the values, and finishes", () => {
  const { onDone, answer } = show("environment");
  type("Search values", "Production");
  submit();
  expect(onDone).not.toHaveBeenCalled();
  expect(screen.getByRole("button", { name: "Add filter" }).getAttribute("aria-busy")).toBe("true");
  answer("production");
  expect(onDone).toHaveBeenCalledWith([{ field: "environment", op: "eq", value: "production" }]);
});

test("a change after submitting cancels it", () => {
  const { onDone, answer } = show("environment", [
    { field: "environment", op: "contains", value: "x" },
  ]);
  fireEvent.change(screen.getByLabelText("Operator"), { target: { value: "eq" } });
  type("Search values", "prod");
  submit();
  type("Search values", "");
  answer("production");
  fireEvent.click(screen.getByRole("checkbox", { name: /production/ }));
  expect(onDone).not.toHaveBeenCalled();
});

test("the first input is focused once, not when the operator changes", () => {
  show("model");
  expect(document.activeElement).toBe(screen.getByLabelText("Search values"));
  const operator = screen.getByLabelText("Operator");
  operator.focus();
  fireEvent.change(operator, { target: { value: "contains" } });
  fireEvent.change(operator, { target: { value: "ne" } });
  expect(document.activeElement).toBe(operator);
});

test("values are asked for when typing pauses, and only where they are offered", () => {
  show("model");
  for (const text of ["g", "gp", "gpt"]) type("Search values", text);
  act(() => void vi.advanceTimersByTime(1000));
  expect(new Set(state.asked)).toEqual(new Set(["", "gpt"]));
  state.asked = [];
  fireEvent.change(screen.getByLabelText("Operator"), { target: { value: "contains" } });
  type("Model value", "claude");
  act(() => void vi.advanceTimersByTime(1000));
  expect(state.asked).toEqual([]);
});

test("both bounds of a range are changed", () => {
  const { onDone } = show("cost", [
    { field: "cost", op: "gte", value: 1 },
    { field: "cost", op: "lte", value: 2 },
  ]);
  expect(screen.getByLabelText<HTMLInputElement>("Cost upper value").value).toBe("2");
  type("Cost value", "0.5");
  submit();
  expect(onDone).toHaveBeenCalledWith([
    { field: "cost", op: "gte", value: 0.5 },
    { field: "cost", op: "lte", value: 2 },
  ]);
});

test("a field without suggestions takes several values", () => {
  const { onDone } = show("name");
  fireEvent.change(screen.getByLabelText("Operator"), { target: { value: "eq" } });
  type("Name value", "first");
  fireEvent.click(screen.getByRole("button", { name: "Add another value" }));
  type("Name value", "second");
  submit();
  expect(onDone).toHaveBeenCalledWith([{ field: "name", op: "in", value: ["first", "second"] }]);
});

test("a failure is chosen by its title", () => {
  const { onDone } = show("failure");
  state.found = [{ name: "flr_00000000000000aa", label: "search: no flight", count: 3 }];
  type("Search values", "no such title");
  act(() => void vi.advanceTimersByTime(1000));
  submit();
  expect(onDone).not.toHaveBeenCalled();
  type("Search values", "Search: no flight");
  act(() => void vi.advanceTimersByTime(1000));
  submit();
  expect(onDone).toHaveBeenCalledWith([
    { field: "failure", op: "eq", value: "flr_00000000000000aa" },
  ]);
});
