import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { emptyDraft, fromExperiment, toBody } from "@/features/experiments/draft";
import type { Experiment } from "@/features/experiments/labels";
import { useDraft } from "@/features/experiments/useDraft";

const state = vi.hoisted(() => ({ workspace: "wsp_a" }));
vi.mock("@/lib/workspace", () => ({ useWorkspaceId: () => state.workspace }));
beforeEach(() => {
  localStorage.clear();
  state.workspace = "wsp_a";
});

const EMPTY = emptyDraft();
const open = (saved = EMPTY) =>
  renderHook((base) => useDraft("new", base), { initialProps: saved });

it("keeps a draft in this browser, for one workspace", () => {
  const { result, unmount } = open();
  expect(result.current.isChanged).toBe(false);
  act(() => result.current.change({ name: "shorter" }));
  unmount();
  expect(open().result.current).toMatchObject({ isChanged: true, draft: { name: "shorter" } });
  state.workspace = "wsp_b";
  expect(open().result.current.draft.name).toBe("");
});

it("starts over with the stored version", () => {
  const { result } = open();
  act(() => result.current.change({ name: "shorter" }));
  act(() => result.current.clear());
  expect(result.current).toMatchObject({ isChanged: false, draft: { name: "" } });
  expect(open().result.current.draft.name).toBe("");
});

it("says when somebody saved the draft after it was changed here", () => {
  const { result, rerender } = open();
  act(() => result.current.change({ hypothesis: "Mine" }));
  expect(result.current.isOutdated).toBe(false);
  rerender({ ...EMPTY, hypothesis: "Theirs" });
  expect(result.current.isOutdated).toBe(true);
  act(() => result.current.clear());
  expect(result.current).toMatchObject({ isOutdated: false, draft: { hypothesis: "Theirs" } });
});

it("keeps what the wizard does not show: description and keys of metrics", () => {
  const variants = [
    { key: "a", name: "Short answers", weight: 1, config: {} },
    { key: "b", name: "b", weight: 1, config: {} },
  ];
  const metrics = [
    { key: "primary.key", source: "trace", metric: "cost", signalName: null },
    { key: "thumbs", source: "signal", metric: null, signalName: "thumbs_up" },
  ].map((one, at) => ({ ...one, direction: "decrease", primary: at === 0 }));
  const experiment = { ...toBody(EMPTY), description: "From code", variants, metrics };
  const body = toBody(fromExperiment(experiment as Experiment));
  expect(body.description).toBe("From code");
  expect(body.variants.map(({ name }) => name)).toEqual(["Short answers", null]);
  expect(body.metrics?.map(({ key }) => key)).toEqual(["primary.key", "thumbs"]);
});
