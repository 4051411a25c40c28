/**
 * Replies that a recording shows one way although the protocol lets them come out another way, depending on which of
 * two things happens first. Both servers may take either.
 */
export interface Race {
  readonly scenario: string;
  readonly id: number;
  readonly reason: string;
  /** What else the whole result may be. */
  readonly orResult?: unknown;
  /** What else the error may be. */
  readonly orError?: unknown;
  /** The reply may also be missing, or come where none was recorded. */
  readonly optional?: true;
}

export const RACES: readonly Race[] = [
  {
    scenario: "terminate-twice",
    id: 901,
    reason: "the exit may have been noticed between the two requests",
    orResult: { running: false },
  },
  {
    scenario: "read-long-poll",
    id: 5,
    reason: "the waiting read is answered by the exit; whether the close is noticed before that is chance",
    orResult: {
      chunks: [],
      nextSeq: 3,
      exited: true,
      exitCode: 5,
      closed: false,
      failure: null,
      sandboxDenied: false,
    },
  },
  ...[{ scenario: "http-failures", id: 2 }, { scenario: "http-stream-failures", id: 5 }].map((request) => ({
    ...request,
    reason: "the wait for the headers and the request as a whole have the same time limit",
    orError: { code: -32603, message: "http/request failed: route-aware request timed out" },
  })),
  {
    scenario: "concurrency-bad-notification-while-reading",
    id: 100,
    reason: "a reply that was queued just before a violation may still leave",
    optional: true,
  },
  {
    scenario: "stdio-unterminated-last-line",
    id: 50,
    reason: "the reply races with the end of the program",
    optional: true,
  },
];

/**
 * A pause that was made while a conversation was recorded and is not in the recording, in milliseconds. Such a
 * recording may need another run on a machine that stalls.
 */
export interface Pause {
  readonly scenario: string;
  /** The pause is made after this event. */
  readonly after: string;
  readonly ms: number;
  readonly reason: string;
}

export const PAUSES: readonly Pause[] = [
  {
    scenario: "session-resume",
    after: "client dropped TCP connection",
    ms: 1_000,
    reason: "the program's second line, 0.6 s after its start, falls into the time without a connection, its third, " +
      "1.8 s after its start, does not",
  },
];

export function pauseAfter(scenario: string, event: string): number {
  return PAUSES.find((pause) => pause.scenario === scenario && pause.after === event)?.ms ?? 0;
}

export function raceOf(scenario: string, id: unknown): Race | undefined {
  return RACES.find((race) => race.scenario === scenario && race.id === id);
}
