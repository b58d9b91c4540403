/** A limit of its own, which takes no slot of the key's. */
export interface Lane {
  readonly name: string
  /** Requests a minute of a key, apart from its own limit. */
  readonly most: number
  readonly counts: boolean
}

/** What the server must know of the routes of one door before it runs them. */
export interface DoorRoutes {
  /** The labels of the request log, by method and route; a route without one is not logged. */
  readonly labels: Readonly<Record<string, string>>
  /** Routes of turns, which a key without tokens left may not call. */
  readonly turns: readonly string[]
  /** Routes that clients ask often and that cost no model: they take no slot of a key. */
  readonly lanes?: Readonly<Record<string, Lane>>
  /** Routes where `X-Api-Key` holds a key, too. */
  readonly apiKey?: readonly string[]
  /** Calls that clients make to a path which is not there, by method and path. */
  readonly unheard?: readonly string[]
}

/** The routes of several doors as one. */
export const joinedRoutes = (doors: readonly DoorRoutes[]) => ({
  labels: Object.fromEntries(doors.flatMap(({ labels }) => Object.entries(labels))),
  turns: new Set(doors.flatMap(({ turns }) => turns)),
  lanes: Object.fromEntries(doors.flatMap(({ lanes = {} }) => Object.entries(lanes))),
  apiKey: new Set(doors.flatMap(({ apiKey = [] }) => apiKey)),
  unheard: new Set(doors.flatMap(({ unheard = [] }) => unheard)),
})

export type JoinedRoutes = ReturnType<typeof joinedRoutes>
