/** What got better or worse between two periods, releases, models or other groups of traces. */
import { Link } from "@tanstack/react-router";
import { ArrowLeftRight } from "lucide-react";
import type { Condition } from "@/lib/conditions";
import { formatCount, formatCounted, formatShortTime } from "@/lib/format";
import type { Search } from "@/lib/url";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { PageBody, Panel } from "@/ui/Panel";
import { EmptyState, QueryResult, Skeleton } from "@/ui/states";
import { ChangeRows } from "./ChangeRows";
import { ComparisonForm } from "./ComparisonForm";
import {
  type Changes,
  contributorBasis,
  contributorLabel,
  measureInfo,
  summarize,
} from "./measures";
import { DifferentAgents, Headline, isEmpty, NothingToCompare, UnpricedUsage } from "./Notices";
import { useChanges, useComparison, useSideSearch } from "./useChanges";

const HEIGHT = 480;

export default function ChangesPage() {
  const { comparison, where, names, agents, isNamed, isLoading, change } = useComparison();
  const changes = useChanges(comparison);
  const { dimension, baseline, candidate } = comparison;
  const isIncomplete = dimension !== "" && !(isNamed && baseline && candidate);
  const isSame = dimension !== "" && baseline === candidate;
  return (
    <PageBody title="Changes" actions={<ViewsButton page="changes" />}>
      <ComparisonForm comparison={comparison} where={where} onChange={change} />
      {isIncomplete ? (
        isLoading ? (
          <Skeleton className="h-96" />
        ) : (
          <ChooseValues
            isNamed={isNamed}
            found={names.length}
            agents={agents}
            onAgent={(agent) => change({ agent })}
          />
        )
      ) : (
        <QueryResult query={changes} rejected="Cannot compare these groups" height={HEIGHT}>
          {(found) =>
            isEmpty(found) ? (
              <NothingToCompare changes={found} onChange={change} />
            ) : (
              <div
                aria-busy={changes.isPlaceholderData}
                className={cx("transition-opacity", changes.isPlaceholderData && "opacity-50")}
              >
                {isSame && <SameValue value={baseline} />}
                <Report changes={found} onChange={change} />
              </div>
            )
          }
        </QueryResult>
      )}
    </PageBody>
  );
}

interface ReportProps {
  changes: Changes;
  onChange: (search: Search) => void;
}

function Report({ changes, onChange }: ReportProps) {
  const { of, measures, contributors, tested } = changes;
  const isComparable = !changes.agents || changes.agents.mix === "same";
  return (
    <div className="flex flex-col gap-3">
      <DifferentAgents changes={changes} onChange={onChange} />
      <Panel title="Measures" unit={of === "spans" ? "of calls" : "of traces"}>
        {isComparable && <Headline changes={changes} />}
        {isComparable && <p className="mb-1">{summarize(measures)}</p>}
        <UnpricedUsage changes={changes} />
        <Sides changes={changes} />
        <ChangeRows
          label="Measures"
          of={of}
          rows={measures.map((change) => ({
            key: change.measure,
            label: measureInfo(change.measure).label,
            change,
          }))}
        />
        <p className="pt-2 text-sm text-muted">
          Bars are 95% intervals of the relative difference; › marks one beyond the scale. Traces of
          one session count as one observation. A difference is unclear if its interval contains
          zero.
        </p>
      </Panel>
      {isComparable && (
        <Panel title="What contributes most" unit={testedText(tested)}>
          {contributors.length === 0 ? (
            <p className="py-4 text-muted">
              There is too little to compare models, tools, agents or errors.
            </p>
          ) : (
            <ChangeRows
              label="Contributors"
              of={of}
              rows={contributors.map((change) => ({
                key: `${change.dimension}:${change.value}:${change.measure}`,
                label: contributorLabel(of, change),
                basis: contributorBasis(of, change),
                change,
                // Traces cannot be filtered by the name of a step.
                links: change.dimension !== "step" && (
                  <TraceLinks
                    changes={changes}
                    label={contributorLabel(of, change)}
                    more={[{ field: change.dimension, op: "eq", value: change.value }]}
                  />
                ),
              }))}
            />
          )}
        </Panel>
      )}
    </div>
  );
}

function testedText(tested: number): string {
  return `${formatCount(tested)} compared; intervals adjusted for multiple comparisons`;
}

function Sides({ changes }: { changes: Changes }) {
  const side = (name: "baseline" | "candidate") => {
    const { value, startDate, endDate, traces, calls } = changes[name];
    const text = value ?? `${formatShortTime(startDate)} – ${formatShortTime(endDate)}`;
    const counted = formatCounted(traces, "trace");
    return `${text} (${calls === null ? counted : `${formatCounted(calls, "call")} in ${counted}`})`;
  };
  return (
    <div className="mb-1 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
      <span>Baseline: {side("baseline")}</span>
      <span>Candidate: {side("candidate")}</span>
      <TraceLinks changes={changes} label="Both sides" more={[]} />
    </div>
  );
}

interface LinksProps {
  changes: Changes;
  label: string;
  more: readonly Condition[];
}

function TraceLinks({ changes, label, more }: LinksProps) {
  const search = useSideSearch(changes);
  return (
    <span className="flex gap-3 text-sm">
      {(["baseline", "candidate"] as const).map((side) => (
        <Link
          key={side}
          to="/traces"
          search={search(side, more)}
          aria-label={`${label}: ${side} traces`}
          className="text-accent hover:underline"
        >
          {side === "baseline" ? "Baseline traces" : "Candidate traces"}
        </Link>
      ))}
    </span>
  );
}

/** By the number of values: none, one, several. */
const CHOICES = [
  {
    title: "No values in this period",
    hint: "No trace in this period has this field, so there is nothing to compare. Choose a longer time range, or send the field with your traces: a release is the resource attribute service.version.",
  },
  {
    title: "Only one value in this period",
    hint: "There is nothing to compare it with. Choose a longer time range, or remove a filter.",
  },
  {
    title: "Choose two values",
    hint: "Name the baseline and the candidate to compare their traces.",
  },
];

const NO_ATTRIBUTE = {
  title: "Choose an attribute",
  hint: "Name the attribute of your spans whose values you want to compare, such as a tenant or a plan.",
};

const NO_AGENT = {
  title: "Choose an agent",
  hint: "Different agents do different work: a comparison across them says little about a release, a model or a tool. To make it anyway, choose both values above.",
};

interface ChooseProps {
  isNamed: boolean;
  found: number;
  /** Those of which one has to be chosen. */
  agents: readonly string[];
  onAgent: (name: string) => void;
}

function ChooseValues({ isNamed, found, agents, onAgent }: ChooseProps) {
  const needsAgent = found > 1 && agents.length > 0;
  const choice = needsAgent ? NO_AGENT : isNamed ? CHOICES[Math.min(found, 2)] : NO_ATTRIBUTE;
  return (
    <EmptyState
      icon={<ArrowLeftRight className="size-6" />}
      title={choice?.title ?? ""}
      action={
        needsAgent && (
          <span className="flex flex-wrap justify-center gap-2">
            {agents.map((name) => (
              <Button key={name} onClick={() => onAgent(name)}>
                {name}
              </Button>
            ))}
          </span>
        )
      }
    >
      {choice?.hint}
    </EmptyState>
  );
}

function SameValue({ value }: { value: string }) {
  return (
    <p role="status" className="mb-3 rounded-lg border bg-info-soft px-3.5 py-2 text-info">
      Both sides are {value}. Choose another baseline or candidate.
    </p>
  );
}
