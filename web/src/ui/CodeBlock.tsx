import { CopyButton } from "./Copy";

/** Code with a copy button. */
export function CodeBlock({ code, label = "Code" }: { code: string; label?: string }) {
  return (
    <div className="flex items-start rounded-md border bg-bg">
      <pre
        role="region"
        tabIndex={0}
        aria-label={label}
        className="min-w-0 flex-1 overflow-x-auto py-3 pl-3 font-mono text-sm leading-5"
      >
        {code}
      </pre>
      <div className="p-1.5">
        <CopyButton text={code} />
      </div>
    </div>
  );
}
