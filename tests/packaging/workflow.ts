/** The workflows as data. */
import { parse } from "yaml";

const PROJECT = new URL("../../", import.meta.url);

export interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

export interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly steps?: readonly Step[];
  readonly strategy?: { readonly matrix: { readonly include?: readonly { readonly target: string }[] } };
}

export interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

export const WORKFLOWS = ["ci", "release"] as const;

export function textOf(path: string): string {
  return Deno.readTextFileSync(new URL(path, PROJECT));
}

/** What a step of the release runs, by the name of the step. */
export function releaseStep(job: string, name: string): string {
  const run = readWorkflow("release").jobs[job]?.steps?.find((step) => step.name === name)?.run;
  if (run === undefined) throw new Error(`the job ${job} of the release has no step '${name}' that runs something`);
  return run;
}

export function readWorkflow(name: typeof WORKFLOWS[number]): Workflow {
  return parse(textOf(`.github/workflows/${name}.yml`));
}
