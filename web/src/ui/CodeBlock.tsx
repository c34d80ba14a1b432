import { CopyButton } from "./Copy";

/** Code with a copy button. */
export function CodeBlock({ code, label = "Code" }: { code: string; label?: string }) {
  return (
    <div className="group relative rounded-md border bg-bg">
      <pre
        role="region"
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto p-3 pr-10 font-mono text-sm leading-5"
      >
        {code}
      </pre>
      <div className="absolute top-1.5 right-1.5 rounded-md bg-bg">
        <CopyButton text={code} />
      </div>
    </div>
  );
}
