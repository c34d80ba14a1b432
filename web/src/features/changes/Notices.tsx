/** What a comparison cannot say, and what to compare instead. */
import { Link } from "@tanstack/react-router";
import { ArrowLeftRight } from "lucide-react";
import { fieldInfo } from "@/lib/filterFields";
import { formatCounted, formatPercent, formatShortTime } from "@/lib/format";
import { type Search, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/states";
import { type Changes, headline } from "./measures";

interface Props {
  changes: Changes;
  onChange: (search: Search) => void;
}

const SIDES = ["baseline", "candidate"] as const;

export function isEmpty({ baseline, candidate }: Changes): boolean {
  return baseline.traces === 0 || candidate.traces === 0;
}

/** A side without traces, with values that are spelled like that of the side. */
export function NothingToCompare({ changes, onChange }: Props) {
  const empty = SIDES.filter((side) => changes[side].traces === 0);
  const missing = empty.map((side) => missingText(changes, side)).join(", and ");
  const similar = empty.flatMap((side) => changes[side].similar.map((name) => ({ side, name })));
  const other = { baseline: changes.baseline.value, candidate: changes.candidate.value };
  return (
    <EmptyState
      icon={<ArrowLeftRight className="size-6" />}
      title={`Nothing to compare: ${missing}`}
      action={
        similar.length > 0 && (
          <span className="flex flex-wrap items-center justify-center gap-2">
            {similar.map(({ side, name }) => (
              <Button
                key={`${side} ${name}`}
                onClick={() => onChange(definedSides({ ...other, [side]: name }))}
              >
                {name}
              </Button>
            ))}
          </span>
        )
      }
    >
      {similar.length > 0
        ? "Did you mean one of these?"
        : changes.dimension === null
          ? "Choose another period, or remove a filter."
          : "Choose another value, a longer time range, or remove a filter."}
    </EmptyState>
  );
}

function definedSides({ baseline, candidate }: Record<(typeof SIDES)[number], string | null>) {
  return { baseline: baseline ?? undefined, candidate: candidate ?? undefined };
}

function missingText({ dimension, ...sides }: Changes, side: (typeof SIDES)[number]): string {
  const { value, startDate, endDate } = sides[side];
  if (dimension === null)
    return `no traces from ${formatShortTime(startDate)} to ${formatShortTime(endDate)}`;
  const inPeriod = side === "candidate" || sides.baseline.startDate === sides.candidate.startDate;
  const period = inPeriod ? "in this period" : "in the period of the baseline";
  return `no traces with ${fieldInfo(dimension).label.toLowerCase()} “${value}” ${period}`;
}

/** Says that the sides have other agents, and offers to compare within one that both have. */
export function DifferentAgents({ changes, onChange }: Props) {
  const { agents, baseline, candidate } = changes;
  if (!agents || agents.mix === "same") return null;
  const named = agents.agents.filter(({ agent }) => agent !== "");
  const shared = named.filter((one) => one.baseline > 0 && one.candidate > 0);
  return (
    <section role="status" className="rounded-lg border bg-warning-soft px-3.5 py-2.5">
      <p className="font-medium">
        {agents.mix === "disjoint"
          ? "Not comparable: no agent is on both sides."
          : "Not comparable: the sides have different agents."}
      </p>
      <p>
        The agents may be the reason of any difference below, so there are no verdicts.{" "}
        {named
          .map(
            (one) =>
              `${one.agent}: ${formatPercent(one.baseline)} of ${baseline.value}, ${formatPercent(one.candidate)} of ${candidate.value}`,
          )
          .join(". ")}
        .
      </p>
      {shared.length > 0 && (
        <p className="mt-1.5 flex flex-wrap items-center gap-2">
          Compare within
          {shared.map(({ agent }) => (
            <Button key={agent} onClick={() => onChange({ agent })}>
              {agent}
            </Button>
          ))}
        </p>
      )}
    </section>
  );
}

/** Says which part of a side has an unknown cost. */
export function UnpricedUsage({ changes }: { changes: Changes }) {
  const isUnknown = changes.measures.some(({ verdict }) => verdict === "unpriced");
  if (!isUnknown) return null;
  const unit = changes.of === "spans" ? "call" : "trace";
  const parts = SIDES.filter((side) => changes[side].unpriced > 0).map(
    (side) => `${formatCounted(changes[side].unpriced, unit)} of the ${side}`,
  );
  const models = SIDES.flatMap((side) => changes[side].unpricedModels);
  return (
    <p className="mb-1">
      The cost is not compared: {parts.join(" and ")} used {[...new Set(models)].join(", ")} without
      a price. <ModelPrices />, also if it is 0.
    </p>
  );
}

function ModelPrices() {
  return (
    <Link to="/models" className="text-accent underline">
      Set a price
    </Link>
  );
}

/** The cause in one sentence: code-reviewer 3.1.0 → 3.2.0: run_tests takes 24.4 s instead of 9.8 s. */
export function Headline({ changes }: { changes: Changes }) {
  const { agent = "" } = useUrl();
  const cause = headline(changes.contributors);
  if (!cause) return null;
  const { baseline, candidate } = changes;
  const values = baseline.value === null ? "" : `${baseline.value} → ${candidate.value}`;
  const subject = [agent, values].filter(Boolean).join(" ");
  return (
    <p className="mb-1 text-lg font-semibold">
      {subject ? `${subject}: ` : ""}
      {cause}.
    </p>
  );
}
