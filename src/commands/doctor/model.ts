import {
  type Endpoint,
  endpointHeaders,
  endpointUrl,
  type UpstreamFetch,
} from '../../channels/net/upstream-call.ts'
import { listedModels } from '../../channels/openai/models.ts'
import type { Config } from '../../config.ts'
import { printableLine } from '../output.ts'
import { type Finding, ok, warn } from './finding.ts'

const NAME = 'Language model'
const NAMES_SHOWN = 5
const NAME_CHARS_SHOWN = 60

/**
 * Whether an endpoint that answers is the right one: an address without its `/v1`, or the page of a
 * program, answers as well, and a model that it does not have shows only in the first turn.
 */
export async function checkModel(
  config: Config,
  endpoint: Endpoint,
  description: string,
  fetch: UpstreamFetch,
  signal: AbortSignal,
): Promise<Finding> {
  const models = await listOf(endpoint, fetch, signal)
  const url = 'MB_LLM_BASE_URL must be the root of an OpenAI-compatible API, often ending in /v1'
  if (models === null) return warn(NAME, `${description}: gives no list of models`, url)
  const wanted = config.MB_LLM_MODEL
  if (wanted === undefined || models.includes(wanted)) return ok(NAME, description)
  const some = models
    .slice(0, NAMES_SHOWN)
    .map((name) => printableLine(name).slice(0, NAME_CHARS_SHOWN))
    .join(', ')
  return warn(
    NAME,
    `${description}: is not in its list`,
    `set MB_LLM_MODEL, for instance to ${some}`,
  )
}

/** Null for what is no list of models, or an empty one. */
async function listOf(endpoint: Endpoint, fetch: UpstreamFetch, signal: AbortSignal) {
  try {
    const answer = await fetch(endpointUrl(endpoint, '/models'), {
      headers: { accept: 'application/json', ...endpointHeaders(endpoint) },
      signal,
    })
    const models = answer.ok ? await listedModels(answer) : []
    return models.length > 0 ? models : null
  } catch {
    return null
  }
}
