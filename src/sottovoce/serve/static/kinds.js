// Types of private words in plain words.
export const KINDS = {
  PER: "person", LOC: "place", ORG: "organisation", DATE: "date", TIME: "time", EMAIL: "e-mail",
  PHONE: "phone", URL: "address", ID: "identifier", NUM: "number", MISC: "other", SENSITIVE: "sensitive",
};

// Types that are private unless others are chosen.
export const DEFAULT_KINDS = Object.keys(KINDS).filter((kind) => !["MISC", "SENSITIVE"].includes(kind));

const OTHERS = { LISTED: "listed", DOUBT: "in doubt" };

export const plainKind = (kind) => KINDS[kind] ?? OTHERS[kind] ?? "private";
