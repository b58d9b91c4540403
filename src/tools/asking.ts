type Json = Readonly<Record<string, unknown>>

/** What a person is asked while a turn waits. */
export interface Question {
  readonly kind: 'approval' | 'question' | 'link'
  /** The names of the MCP server and of its tool; a tool of this server has no first. */
  readonly server: string | null
  readonly tool: string
  readonly title?: string | null
  readonly message?: string | null
  /** What the tool is to be called with. */
  readonly arguments?: Json
  /** Of the arguments, or of the answer. */
  readonly schema?: Json | null
  readonly options?: readonly string[]
  /** Whether more than one of the options may be chosen. */
  readonly multiple?: boolean
  readonly url?: string
  /** Why the person should not answer. */
  readonly warning?: string | null
}

/** An answer that was checked against its question. A cancel ends the turn instead. */
export interface Reply {
  readonly action: 'accept' | 'decline'
  readonly content: Json
  /** Whether the tool asks no more in this session. */
  readonly remember: boolean
}

/** A tool as it was when a person allowed it. */
export interface Allowed {
  readonly serverId: string
  readonly tool: string
  readonly hash: string
}

/** The person of a turn. All calls reject with the reason of the turn's end. */
export interface Person {
  /** Names the conversation and who is in it; null outside of one. */
  readonly conversation: string | null
  /** Null when the turn has asked too often: as where nobody is. */
  ask(question: Question): Promise<Reply | null>
  /** Whether the person has allowed the tool for the session. */
  hasAllowed(tool: Allowed): Promise<boolean>
  allow(tool: Allowed): void
}
