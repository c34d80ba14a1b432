import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { cutMiddle } from "@/lib/format";
import { Button } from "./Button";
import { cx } from "./cx";
import { toast } from "./Toast";

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard API needs HTTPS; execCommand works without it.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (!isCopied) toast("The browser blocked access to the clipboard.", "bad");
    return isCopied;
  }
}

function useCopied(text: string) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (await copyText(text)) {
      setCopied(true);
      setTimeout(() => setCopied(false), 1200);
    }
  };
  return { isCopied, copy };
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const { isCopied, copy } = useCopied(text);
  return (
    <Button
      kind="quiet"
      size="small"
      aria-label={label}
      onClick={copy}
      icon={isCopied ? <Check className="size-3.5 text-good" /> : <Copy className="size-3.5" />}
    />
  );
}

/** An id, shortened in the middle, with the full value on hover; a click copies it. */
export function CopyId({ id, ends = 6 }: { id: string; ends?: number }) {
  const { isCopied, copy } = useCopied(id);
  return (
    <button
      type="button"
      title={isCopied ? "Copied" : `${id} · click to copy`}
      onClick={(event) => {
        event.stopPropagation();
        void copy();
      }}
      className={cx(
        "font-mono text-sm whitespace-nowrap hover:text-accent",
        isCopied ? "text-good" : "text-muted",
      )}
    >
      {cutMiddle(id, ends)}
    </button>
  );
}
