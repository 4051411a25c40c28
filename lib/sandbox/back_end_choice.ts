/** What an operator can say; needs nothing, so that every start can read it. */

/** What enforces policies, from the first to be taken to the last. */
export const BACK_END_NAMES = ["bubblewrap", "unshare", "landlock"] as const;
export type BackEndName = typeof BACK_END_NAMES[number];

/** What an operator can ask for. `external`: the machine around us is the sandbox, so nothing is enforced here. */
export const BACK_END_CHOICES = ["auto", ...BACK_END_NAMES, "external"] as const;
export type BackEndChoice = typeof BACK_END_CHOICES[number];
