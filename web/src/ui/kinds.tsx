/** The icon and colour of each span kind. */
import {
  Bot,
  Boxes,
  BrainCircuit,
  Database,
  Link2,
  ListFilter,
  type LucideIcon,
  Scale,
  Search,
  ShieldCheck,
  Square,
  Wrench,
} from "lucide-react";
import type { Span } from "@/lib/api";

const KINDS: Record<Span["kind"], { icon: LucideIcon; colour: string }> = {
  agent: { icon: Bot, colour: "var(--series-0)" },
  llm: { icon: BrainCircuit, colour: "var(--series-4)" },
  tool: { icon: Wrench, colour: "var(--series-1)" },
  retrieval: { icon: Search, colour: "var(--series-2)" },
  embedding: { icon: Boxes, colour: "var(--series-6)" },
  rerank: { icon: ListFilter, colour: "var(--series-8)" },
  chain: { icon: Link2, colour: "var(--series-9)" },
  guardrail: { icon: ShieldCheck, colour: "var(--series-5)" },
  evaluator: { icon: Scale, colour: "var(--series-3)" },
  memory: { icon: Database, colour: "var(--series-7)" },
  other: { icon: Square, colour: "var(--series-other)" },
};

export function kindColour(kind: Span["kind"]): string {
  return (KINDS[kind] ?? KINDS.other).colour;
}

export function KindIcon({ kind }: { kind: Span["kind"] }) {
  const { icon: Icon, colour } = KINDS[kind] ?? KINDS.other;
  return (
    <span title={kind} className="inline-flex shrink-0">
      <Icon className="size-3.5" style={{ color: colour }} aria-hidden />
      <span className="sr-only">{kind}</span>
    </span>
  );
}
