import { AppError, appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { withoutLatest } from '../../http/ollama-path.ts'
import type { Assistant, Assistants } from '../shared/assistants.ts'

const CAPABILITIES = ['completion', 'tools', 'vision']
/** What is said where nobody knows. */
const CONTEXT_TOKENS = 32_768

/** How many tokens the model behind an assistant reads; null where that is not known. */
export type ContextOf = (principal: Principal, appId: string | null) => Promise<number | null>

const DETAILS = {
  parent_model: '',
  format: 'moonbase',
  family: 'moonbase',
  families: ['moonbase'],
  parameter_size: '',
  quantization_level: '',
}

const NAME_CHARS_SAID = 100

/** 404 in the words of Ollama, which some clients look for. */
export function unknownModel(name: string): AppError {
  const said = `model '${name.slice(0, NAME_CHARS_SAID)}' not found`
  return new AppError('model_not_found', {}, { param: 'model', said })
}

/** A colon would begin a tag. */
const plainName = ({ name, appId }: Assistant): string =>
  name.includes(':') ? (appId ?? name) : name

export const listedName = (assistant: Assistant): string => `${plainName(assistant)}:latest`

function entryOf(assistant: Assistant) {
  const name = listedName(assistant)
  const digest = new Bun.CryptoHasher('sha256').update(assistant.appId ?? 'moonbase').digest('hex')
  return {
    name,
    model: name,
    digest,
    size: 0,
    details: DETAILS,
    capabilities: CAPABILITIES,
    modified_at: new Date(assistant.created * 1000).toISOString(),
  }
}

/** The assistants as models of Ollama. */
export function createOllamaModels(assistants: Assistants, contextOf: ContextOf) {
  const told = (name: string) => (error: unknown) =>
    Promise.reject(
      error instanceof AppError && error.code === 'model_not_found' ? unknownModel(name) : error,
    )

  async function find(principal: Principal, name: string): Promise<Assistant> {
    if (name.trim() === '') throw appError('field_missing', { field: 'model' })
    const plain = withoutLatest(name.trim())
    const list = await assistants.list(principal)
    const named = list.find((assistant) => plainName(assistant) === plain)
    return named ?? (await assistants.find(principal, plain).catch(told(name)))
  }

  return {
    /** Who answers; the key of an app decides by itself. Throws 404. */
    choose: (principal: Principal, name: string): Promise<Assistant> =>
      assistants.choose(principal, withoutLatest(name.trim())).catch(told(name)),
    find,
    list: async (principal: Principal) => ({
      models: (await assistants.list(principal)).map(entryOf),
    }),
    async show(principal: Principal, name: string) {
      const assistant = await find(principal, name)
      const tokens = await contextOf(principal, assistant.appId)
      return {
        modelfile: '',
        parameters: '',
        template: '',
        license: '',
        details: DETAILS,
        model_info: {
          'general.architecture': 'moonbase',
          'general.basename': plainName(assistant),
          'moonbase.context_length': tokens ?? CONTEXT_TOKENS,
        },
        capabilities: CAPABILITIES,
      }
    },
  }
}

export type OllamaModels = ReturnType<typeof createOllamaModels>
