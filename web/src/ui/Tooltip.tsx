/** The names of icon buttons on hover and focus: one tooltip on Base UI, shared by all of them. */
import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";

const shared = Tooltip.createHandle<string>();

/** Gives an element the shared tooltip. The element itself needs an `aria-label`. */
export function withTooltip(text: string, element: ReactElement) {
  return <Tooltip.Trigger handle={shared} payload={text} delay={400} render={element} />;
}

/** Rendered once, beside the pages. */
export function Tooltips() {
  return (
    <Tooltip.Root handle={shared} disableHoverablePopup>
      {({ payload }) => (
        <Tooltip.Portal>
          <Tooltip.Positioner sideOffset={6} collisionPadding={8} className="z-50">
            <Tooltip.Popup className="rounded-md border bg-surface px-2 py-1 text-sm shadow-lg">
              {payload}
            </Tooltip.Popup>
          </Tooltip.Positioner>
        </Tooltip.Portal>
      )}
    </Tooltip.Root>
  );
}
