import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { losesChanges } from "@/app/UnsavedGuard";
import { hasUnsaved } from "@/lib/unsaved";
import { Dialog } from "@/ui/Dialog";
import { TextField } from "@/ui/Field";

afterEach(cleanup);

function open(isChanged = false) {
  const onClose = vi.fn();
  const dialog = (isOpen: boolean) => (
    <Dialog isOpen={isOpen} isChanged={isChanged} onClose={onClose} title="New key">
      <TextField label="Name" defaultValue="" value={undefined as never} onChange={vi.fn()} />
    </Dialog>
  );
  const { rerender } = render(dialog(true));
  return { onClose, close: () => rerender(dialog(false)) };
}

const pressClose = () => fireEvent.click(screen.getByRole("button", { name: "Close" }));
const type = () => fireEvent.input(screen.getByLabelText("Name"), { target: { value: "ci" } });

it("closes a dialog in which nothing was typed", () => {
  const { onClose } = open();
  pressClose();
  expect(onClose).toHaveBeenCalledOnce();
});

it("asks before a dialog drops what was typed", () => {
  const { onClose, close } = open();
  type();
  expect(hasUnsaved()).toBe(true);
  pressClose();
  expect(onClose).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: "Discard" }));
  expect(onClose).toHaveBeenCalledOnce();
  close();
  expect(hasUnsaved()).toBe(false);
});

it("asks when the dialog says that it was changed", () => {
  const { onClose } = open(true);
  pressClose();
  expect(screen.getByText("Discard your changes?")).toBeTruthy();
  expect(onClose).not.toHaveBeenCalled();
});

it("guards the page, its tab, the open alert and the workspace, but not filters", () => {
  open(true);
  const at = (search: object, pathname = "/alerts/rules/workspace") => ({ pathname, search });
  const leaves = (next: ReturnType<typeof at>) =>
    losesChanges({ current: at({ ws: "wsp_a", tab: "masking", alert: "alr_1" }), next });
  const here = { ws: "wsp_a", tab: "masking", alert: "alr_1" };
  expect(leaves(at({ ...here, range: "30d" }))).toBe(false);
  expect(leaves(at({ ...here, ws: "wsp_b" }))).toBe(true);
  expect(leaves(at({ ...here, tab: "audit" }))).toBe(true);
  expect(leaves(at({ ...here, alert: "alr_2" }))).toBe(true);
  expect(leaves(at(here, "/traces"))).toBe(true);
});

it("does not hold back who changed nothing", () => {
  open();
  const [current, next] = ["/keys", "/traces"].map((pathname) => ({ pathname, search: {} }));
  expect(losesChanges({ current, next } as never)).toBe(false);
});
