/** Shared by menus, popovers and their placeholders; apart from them, because they load Base UI. */
export const TRIGGER =
  "inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-surface px-2.5 whitespace-nowrap hover:bg-hover";
export const PANEL =
  "max-h-[min(70vh,var(--available-height))] min-w-44 overflow-auto rounded-md border bg-surface p-1 shadow-xl outline-none";
