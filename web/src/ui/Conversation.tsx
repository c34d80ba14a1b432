/** Messages as collapsible turns, with tool calls and their results. */
import {
  Bot,
  ChevronRight,
  CornerDownRight,
  Image,
  Lightbulb,
  Settings2,
  UserRound,
  Wrench,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { formatCount } from "@/lib/format";
import type { Message, Part } from "@/lib/messages";
import { CopyButton } from "./Copy";
import { cx } from "./cx";
import { JsonView } from "./JsonView";
import { Markdown } from "./Markdown";

const ICONS: Record<string, typeof Bot> = {
  system: Settings2,
  user: UserRound,
  assistant: Bot,
  tool: Wrench,
};
const TINTS: Record<string, string> = {
  system: "text-muted",
  user: "text-info",
  assistant: "text-accent",
  tool: "text-warning",
};
const FOLDED_ROLES = new Set(["system"]);

export function Conversation({ messages }: { messages: Message[] }) {
  return (
    <ol className="flex flex-col gap-2">
      {messages.map((message, index) => (
        <Turn key={index} message={message} />
      ))}
    </ol>
  );
}

function Turn({ message }: { message: Message }) {
  const [isOpen, setOpen] = useState(!FOLDED_ROLES.has(message.role));
  const Icon = ICONS[message.role] ?? Bot;
  const words = message.parts
    .map((part) => ("text" in part ? part.text : ""))
    .join("\n")
    .trim();
  return (
    <li className="rounded-md border bg-surface">
      <div className="flex h-8 items-center gap-1.5 pr-1 pl-2">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 flex-1 items-center gap-1.5 text-left"
        >
          <ChevronRight
            className={cx("size-3 shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
            aria-hidden
          />
          <Icon className={cx("size-3.5 shrink-0", TINTS[message.role])} aria-hidden />
          <span className={cx("text-sm font-medium", TINTS[message.role])}>{message.role}</span>
          {!isOpen && <span className="truncate text-sm text-muted">{words.slice(0, 200)}</span>}
        </button>
        {words && <CopyButton text={words} label="Copy text" />}
      </div>
      {isOpen && (
        <div className="flex flex-col gap-2 px-3 pb-2.5">
          {message.parts.map((part, index) => (
            <PartView key={index} part={part} />
          ))}
          {message.parts.length === 0 && <p className="text-sm text-muted">empty</p>}
        </div>
      )}
    </li>
  );
}

function PartView({ part }: { part: Part }) {
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} />;
    case "reasoning":
      return (
        <div className="border-l-2 border-line-strong pl-3 text-muted">
          <p className="mb-1 flex items-center gap-1 text-sm">
            <Lightbulb className="size-3.5" aria-hidden /> reasoning
          </p>
          <Markdown text={part.text} />
        </div>
      );
    case "toolCall":
      return (
        <ToolBox
          icon={<Wrench className="size-3.5" aria-hidden />}
          title={part.name}
          id={part.id}
          note="called with"
        >
          <Value value={part.arguments} />
        </ToolBox>
      );
    case "toolResult":
      return (
        <ToolBox
          icon={<CornerDownRight className="size-3.5" aria-hidden />}
          title={part.name ?? "result"}
          id={part.id}
          note={part.name ? "returned" : ""}
        >
          <Value value={part.result} />
        </ToolBox>
      );
    case "media":
      return (
        <div className="flex h-16 items-center gap-2 rounded-md border border-dashed px-3 text-muted">
          <Image className="size-4" aria-hidden />
          <span>{part.mediaType}</span>
          <span className="truncate text-sm text-faint">
            {part.url ?? `${formatCount(part.size)} characters`}
          </span>
        </div>
      );
    case "data":
      return <Value value={part.value} />;
  }
}

interface ToolBoxProps {
  icon: ReactNode;
  title: string;
  id: string | null;
  note: string;
  children: ReactNode;
}

function ToolBox({ icon, title, id, note, children }: ToolBoxProps) {
  return (
    <div className="rounded-md border bg-bg">
      <div className="flex h-7 items-center gap-1.5 border-b px-2.5 text-sm">
        <span className="text-warning">{icon}</span>
        <span className="truncate font-medium">{title}</span>
        <span className="text-muted">{note}</span>
        {id && <span className="ml-auto truncate font-mono text-xs text-faint">{id}</span>}
      </div>
      <div className="p-2.5">{children}</div>
    </div>
  );
}

/** JSON as a tree, text as text. */
export function Value({ value }: { value: unknown }) {
  if (value === undefined || value === null || value === "")
    return <p className="text-sm text-muted">empty</p>;
  return typeof value === "string" ? (
    <Markdown text={value} />
  ) : (
    <div className="font-mono text-sm">
      <JsonView value={value} />
    </div>
  );
}
