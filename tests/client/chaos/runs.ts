import { chaosRun, type ConnectThrough, type Tally } from "./run.ts";

export interface ChaosOptions {
  readonly url: string;
  /** How clients connect; by WebSocket unless given. */
  readonly connectThrough?: ConnectThrough;
  /** Of the first run; the next ones count on from it. */
  readonly seed: number;
  readonly runs: number;
  readonly atOnce: number;
}

/** @throws {Error} Of the first run that failed, when those that were under way have ended. */
export async function chaosRuns({ url, seed, runs, atOnce, connectThrough }: ChaosOptions): Promise<Tally> {
  const sum: Tally = { whole: 0, failed: 0, connections: 0 };
  const failures: unknown[] = [];
  let next = 0;
  const work = async () => {
    while (next < runs && failures.length === 0) {
      try {
        const { whole, failed, connections } = await chaosRun(seed + next++, url, connectThrough);
        sum.whole += whole;
        sum.failed += failed;
        sum.connections += connections;
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
  return sum;
}
