/** Code that requests the variant of a unit. */
import { useUrlState } from "@/lib/url";
import { CodeBlock } from "@/ui/CodeBlock";
import { Panel } from "@/ui/Panel";
import { Tabs } from "@/ui/Tabs";
import type { Experiment } from "./labels";

function snippetsOf(experiment: Experiment, origin: string) {
  const { id, name } = experiment;
  const control = experiment.variants[0]?.key ?? "control";
  return [
    {
      id: "curl",
      label: "curl",
      code: `curl -s "${origin}/api/experiments/${id}/assign?unitId=user-42" \\
  -H "x-api-key: $SPANWISE_API_KEY"`,
    },
    {
      id: "python",
      label: "Python",
      code: `import os, urllib.parse, urllib.request, json

def variant_of(user_id: str) -> dict:
    query = urllib.parse.urlencode({"unitId": user_id})
    request = urllib.request.Request(
        f"${origin}/api/experiments/${id}/assign?{query}",
        headers={"x-api-key": os.environ["SPANWISE_API_KEY"]},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["data"]

chosen = variant_of("user-42")
print(chosen["variant"], chosen["config"])`,
    },
    {
      id: "openfeature",
      label: "OpenFeature (Python)",
      code: `# pip install openfeature-sdk openfeature-provider-ofrep
import os
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

api.set_provider(OFREPProvider(
    "${origin}/api",
    headers_factory=lambda: {"x-api-key": os.environ["SPANWISE_API_KEY"]},
))
flags = api.get_client()
user = EvaluationContext(targeting_key="user-42")
details = flags.get_string_details("${name}", "${control}", user)
print(details.variant)`,
    },
    {
      id: "openfeature-js",
      label: "OpenFeature (Node)",
      code: `// npm install @openfeature/server-sdk @openfeature/ofrep-provider
import { OpenFeature } from "@openfeature/server-sdk";
import { OFREPProvider } from "@openfeature/ofrep-provider";

await OpenFeature.setProviderAndWait(new OFREPProvider({
  baseUrl: "${origin}/api",
  headers: [["x-api-key", process.env.SPANWISE_API_KEY]],
}));
const flags = OpenFeature.getClient();
const details = await flags.getStringDetails("${name}", "${control}", { targetingKey: "user-42" });
console.log(details.variant);`,
    },
    {
      id: "otel",
      label: "Span attributes",
      code: `# Traces are matched by user or session id. If neither is the unit, set the variant explicitly:
span.set_attribute("spanwise.experiment.id", "${id}")
span.set_attribute("spanwise.experiment.variant", chosen["variant"])`,
    },
  ];
}

export function Snippets({ experiment }: { experiment: Experiment }) {
  const [tab, setTab] = useUrlState("with", "curl");
  const all = snippetsOf(experiment, location.origin);
  const shown = all.find((one) => one.id === tab) ?? all[0];
  return (
    <Panel title="Get the variant" unit="the same unit always gets the same variant">
      <div className="-mx-3.5 mb-3">
        <Tabs
          label="Languages"
          tabs={all.map(({ id, label }) => ({ id, label }))}
          value={shown?.id ?? ""}
          onChange={setTab}
        />
      </div>
      {shown && <CodeBlock code={shown.code} label={shown.label} />}
    </Panel>
  );
}
