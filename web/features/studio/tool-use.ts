/** A call of a tool in an answer. */
export interface ToolUse {
  readonly name: string
  /** Null while it runs. */
  readonly ok: boolean | null
  /** From the transcript, once the turn is stored; cut when they are long. */
  readonly ms?: number
  readonly arguments?: string | undefined
  readonly result?: string | undefined
  /** It was not called, since nobody could be asked. */
  readonly needs_approval?: true | undefined
  /** It was not called, since the person said no, or nothing in time. */
  readonly declined?: true | undefined
}

/** What a person was asked, and what they said. */
export interface Asked {
  readonly tool: string
  readonly action: 'accept' | 'decline' | 'cancel'
  /** How long the turn waited for it. */
  readonly ms: number
}

/** What the model is told of a call to which the person said no, or nothing in time. */
const TOLD = 'Error: declined by the person'

const isCallOf = (name: string, tool: string) => name === tool || name.endsWith(`__${tool}`)

/** Marks the calls that failed because the person declined them. */
export function withDeclined(tools: readonly ToolUse[], asked: readonly Asked[]): ToolUse[] {
  const left = asked.filter(({ action }) => action !== 'accept').map(({ tool }) => tool)
  return tools.map((use) => {
    const { name, ok, result = TOLD } = use
    const at = left.findIndex((tool) => isCallOf(name, tool))
    if (at < 0 || ok !== false || result !== TOLD) return use
    left.splice(at, 1)
    return { ...use, declined: true as const }
  })
}

/** Marks the first running call of that tool as ended. */
export function finished(tools: readonly ToolUse[], name: string, ok: boolean): ToolUse[] {
  const index = tools.findIndex((use) => use.name === name && use.ok === null)
  return tools.map((use, at) => (at === index ? { ...use, ok } : use))
}
