import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { call, download, postFile, segment } from './client.ts'
import type * as T from './types.ts'

type Role = T.Me['role']

const at = (path: string, id: string, rest = '') => `/console/${path}/${segment(id)}${rest}`

/** `?name=value`, without what is undefined or empty. */
function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length > 0 ? `?${query}` : ''
}

/** Every call of the console, by resource. All of them throw `ApiError`. */
export const api = {
  auth: {
    me: () => call<T.Me>('GET', '/auth/me'),
    methods: () => call<T.LoginMethods>('GET', '/auth/methods'),
    start: (email: string) => call<{ sent: true }>('POST', '/auth/email/start', { email }),
    verify: (email: string, code: string) =>
      call<T.Me>('POST', '/auth/email/verify', { email, code }),
    passkeyOptions: () =>
      call<PublicKeyCredentialRequestOptionsJSON>('POST', '/auth/passkey/options'),
    passkeyVerify: (response: AuthenticationResponseJSON) =>
      call<T.Me>('POST', '/auth/passkey/verify', { response }),
    switchTo: (tenant_id: string) => call<T.Me>('POST', '/auth/tenant', { tenant_id }),
    logout: (everywhere: boolean) =>
      call<{ ok: true }>('POST', `/auth/logout${everywhere ? '?everywhere=1' : ''}`),
    invitations: () => call<{ invitations: T.Invitation[] }>('GET', '/auth/invitations'),
    answer: ({ id, how }: { id: string; how: 'accept' | 'decline' }) =>
      call<{ id: string; tenant_id: string }>('POST', `/auth/invitations/${segment(id)}/${how}`),
  },
  keys: {
    list: () => call<{ keys: T.ApiKeyMeta[] }>('GET', '/console/keys'),
    issue: (input: T.KeyInput) => call<T.IssuedKey>('POST', '/console/keys', input),
    update: (id: string, input: T.KeyInput) => call<T.ApiKeyMeta>('PUT', at('keys', id), input),
    made: (id: string) => call<T.MadeByKey>('GET', at('keys', id, '/made')),
    /** `withMade`: what the key has made, too. */
    revoke: ({ id, withMade }: { id: string; withMade: boolean }) =>
      call<unknown>('DELETE', at('keys', id, withMade ? '?made=revoke' : '')),
  },
  apps: {
    list: () => call<{ apps: T.App[] }>('GET', '/console/apps'),
    create: (input: T.AppInput) => call<T.App>('POST', '/console/apps', input),
    update: (id: string, input: T.AppInput) => call<T.App>('PUT', at('apps', id), input),
    versions: (id: string) =>
      call<{ versions: T.AppVersion[] }>('GET', at('apps', id, '/versions')),
    version: (id: string, version: number) =>
      call<T.App>('GET', at('apps', id, `/versions/${version}`)),
    remove: (id: string) => call<unknown>('DELETE', at('apps', id)),
    issueKey: (id: string, input: T.KeyInput) =>
      call<T.IssuedKey>('POST', at('apps', id, '/keys'), input),
  },
  shares: {
    list: (app: string) => call<{ shares: T.Share[] }>('GET', at('apps', app, '/shares')),
    create: ({ app, input }: { app: string; input: T.ShareInput }) =>
      call<T.IssuedShare>('POST', at('apps', app, '/shares'), input),
    change: ({ share, to }: { share: T.Share; to: T.ShareChange }) =>
      call<T.Share>('PUT', at('apps', share.app_id, `/shares/${segment(share.id)}`), to),
    rotate: ({ app_id, id }: T.Share) =>
      call<T.IssuedShare>('POST', at('apps', app_id, `/shares/${segment(id)}/rotate`)),
    remove: ({ app_id, id }: T.Share) =>
      call<unknown>('DELETE', at('apps', app_id, `/shares/${segment(id)}`)),
  },
  feedback: {
    list: (app: string, rating: 1 | -1) =>
      call<T.FeedbackList>('GET', `/console/feedback?app_id=${segment(app)}&rating=${rating}`),
    give: ({ session, seq, input }: { session: string; seq: number; input: T.FeedbackInput }) =>
      call<{ seq: number; rating: number }>(
        'PUT',
        at('sessions', session, `/turns/${seq}/feedback`),
        input,
      ),
  },
  members: {
    list: () => call<{ members: T.Member[] }>('GET', '/console/members'),
    invite: (input: { email: string; role: Role; language: 'zh' | 'en' }) =>
      call<T.Member & { mailed: boolean }>('POST', '/console/members', input),
    setRole: ({ id, role }: { id: string; role: Role }) =>
      call<T.Member>('PUT', at('members', id), { role }),
    limit: ({ id, daily_tokens }: { id: string; daily_tokens: number }) =>
      call<T.Member>('PUT', at('members', id), { daily_tokens }),
    remove: ({ id, keys }: { id: string; keys: boolean }) =>
      call<{ revoked_keys: number }>('DELETE', at('members', id, keys ? '?keys=revoke' : '')),
  },
  /** Empty parts are no filters. */
  audit: (query: Readonly<Record<'before' | 'actor' | 'action', string>>) =>
    call<T.Audit>('GET', `/console/audit?${new URLSearchParams(query)}`),
  kb: {
    create: (title: string, text: string, collection_id: string | null) =>
      call<T.KbDoc>('POST', '/console/kb/docs', { title, text, collection_id }),
    remove: (id: string) => call<unknown>('DELETE', at('kb/docs', id)),
    /** The passages of a document from number `from` on, at most `KB_CHUNKS_SHOWN_MAX`. */
    chunks: (id: string, from = 0) =>
      call<{ chunks: T.KbChunk[] }>('GET', at('kb/docs', id, `/chunks?from=${from}`)),
    /** How many documents wait to be embedded. */
    embedding: () => call<T.KbProgress>('GET', '/console/kb/embedding'),
    search: ({ q, collection }: { q: string; collection: string | null }) =>
      call<{ results: T.KbHit[] }>('POST', '/console/kb/search', {
        q,
        collections: collection === null ? null : [collection],
      }),
    move: (id: string, to: string) =>
      call<T.KbDoc>('PUT', at('kb/docs', id), { collection_id: to }),
    rename: (id: string, title: string) => call<T.KbDoc>('PUT', at('kb/docs', id), { title }),
    doc: (id: string) => call<T.KbDocResponse>('GET', at('kb/docs', id)),
  },
  collections: {
    list: () => call<{ collections: T.Collection[] }>('GET', '/console/kb/collections?limit=200'),
    create: (input: { name: string }) =>
      call<T.Collection>('POST', '/console/kb/collections', input),
    /** Replaces it: a description that is left out is lost. */
    change: (id: string, input: { name: string; description: string | null }) =>
      call<T.Collection>('PUT', at('kb/collections', id), input),
    /** Its documents stay. */
    remove: (id: string) => call<unknown>('DELETE', at('kb/collections', id)),
  },
  sources: {
    sendFile(file: File, collection: string | null, onSent: (share: number) => void) {
      const form = new FormData()
      if (collection !== null) form.set('collection_id', collection)
      form.set('file', file)
      return postFile<T.Source>('/console/kb/files', form, onSent)
    },
    addPage: (input: {
      url: string
      title: string
      refresh: T.Refresh
      collection_id: string | null
    }) => call<T.Source>('POST', '/console/kb/urls', input),
    setRefresh: ({ id, refresh }: { id: string; refresh: T.Refresh }) =>
      call<T.Source>('PUT', at('kb/sources', id), { refresh }),
    move: (id: string, to: string) =>
      call<T.Source>('PUT', at('kb/sources', id), { collection_id: to }),
    rename: (id: string, title: string) => call<T.Source>('PUT', at('kb/sources', id), { title }),
    check: (id: string) => call<T.Source>('POST', at('kb/sources', id, '/refresh')),
    remove: (id: string) => call<unknown>('DELETE', at('kb/sources', id)),
  },
  devices: {
    list: () => call<{ devices: T.Device[] }>('GET', '/console/devices'),
    one: (id: string) => call<T.Device>('GET', at('devices', id)),
    register: (input: { name: string; app_id: string | null; hw_model: string | null }) =>
      call<T.RegisteredDevice>('POST', '/console/devices', input),
    update: (id: string, input: { name: string; app_id: string | null }) =>
      call<T.Device>('PUT', at('devices', id), input),
    say: ({ id, text }: { id: string; text: string }) =>
      call<{ id: string; text: string }>('POST', at('devices', id, '/say'), { text }),
    recode: (id: string) => call<T.PairingCode>('POST', at('devices', id, '/recode')),
    remove: (id: string) => call<unknown>('DELETE', at('devices', id)),
    /** Which board shows these digits. */
    waiting: (code: string) =>
      call<T.WaitingBoard>('POST', '/console/devices/pair/board', { code }),
    pair: (input: { code: string; name: string; app_id: string | null }) =>
      call<T.Device>('POST', '/console/devices/pair', input),
    boards: () => call<T.Boards>('GET', '/console/boards'),
  },
  provider: {
    read: () => call<T.Provider>('GET', '/console/provider'),
    save: (input: { base_url: string; api_key: string; failover: boolean }) =>
      call<T.Provider>('PUT', '/console/provider', input),
    remove: () => call<T.Provider>('DELETE', '/console/provider'),
    test: () => call<T.ProviderTest>('POST', '/console/provider/test'),
  },
  system: {
    read: () =>
      call<{ settings: T.SystemSetting[]; tests: T.LastTest[] }>('GET', '/console/system'),
    save: (changes: Readonly<Record<string, string | null>>, untested = false) =>
      call<{ settings: T.SystemSetting[] }>(
        'PUT',
        `/console/system${untested ? '?untested=1' : ''}`,
        changes,
      ),
    test: (part: string) => call<T.SystemTest>('POST', '/console/system/test', { part }),
    modelPack: () => call<T.ModelPack>('GET', '/console/system/model-pack'),
    localModels: () => call<T.LocalModels>('GET', '/console/system/local-models'),
    models: (input: { base_url: string; api_key?: string }) =>
      call<T.AddressModels>('POST', '/console/system/models', input),
    overview: () => call<T.Overview>('GET', '/console/system/overview'),
    backups: () => call<T.Backups>('GET', '/console/system/backups'),
    downloadBackup: (passphrase: string) =>
      download('/console/system/backups/download', { 'x-backup-passphrase': passphrase }),
    backUp: () => call<T.Backups>('POST', '/console/system/backups'),
    tenants: () => call<{ tenants: T.TenantSummary[] }>('GET', '/console/system/tenants'),
    limitTenant: (id: string, limits: T.TenantLimits) =>
      call<T.TenantSummary>('PUT', at('system/tenants', id), limits),
    people: () => call<{ people: T.Person[] }>('GET', '/console/system/people'),
    addPerson: (input: { email: string; operator: boolean }) =>
      call<T.Person>('POST', '/console/system/people', input),
    operate: (id: string, operator: boolean) =>
      call<T.Person>('PUT', at('system/people', id), { operator }),
    signOut: (id: string) => call<T.Person>('POST', at('system/people', id, '/sign-out')),
    personLink: (id: string) =>
      call<{ url: string; expires_at: string }>('POST', at('system/people', id, '/link')),
    disable: (id: string, disabled: boolean) =>
      call<T.Person>('PUT', at('system/people', id), { disabled }),
    removePerson: (id: string) => call<unknown>('DELETE', at('system/people', id)),
  },
  personas: {
    list: () => call<{ personas: T.Persona[] }>('GET', '/console/personas'),
    create: (input: { name: string; prompt: string; is_default: boolean }) =>
      call<T.Persona>('POST', '/console/personas', input),
    update: (id: string, input: { name: string; prompt: string }) =>
      call<T.Persona>('PUT', at('personas', id), input),
    remove: (id: string) => call<unknown>('DELETE', at('personas', id)),
    setDefault: (id: string, on: boolean) =>
      call<unknown>(on ? 'POST' : 'DELETE', at('personas', id, '/default')),
  },
  answerAsk: (id: string, answer: T.AskAnswer) =>
    call<unknown>('POST', at('agent/asks', id), answer),
  settings: {
    read: () => call<T.Settings>('GET', '/console/settings'),
    save: (input: T.Settings) => call<T.Settings>('PUT', '/console/settings', input),
  },
  sessions: {
    history: (id: string) => call<T.History>('GET', at('sessions', id, '/history')),
    /** Turns, newest first; `before` is the `next_before` of the previous page. */
    transcript: (id: string, { before, limit }: { before?: number; limit?: number } = {}) =>
      call<T.Transcript>('GET', at('sessions', id, `/transcript${queryOf({ before, limit })}`)),
    /** With all the ways that it went. */
    remove: (id: string) => call<unknown>('DELETE', at('sessions', id, '?family=1')),
  },
  conversations: {
    /** Most recently active first; `before` is the `next_before` of the previous page. */
    list: (query: Readonly<Record<string, string | number>> = {}) =>
      call<T.ConversationList>('GET', `/console/conversations${queryOf(query)}`),
    /** A blank title restores the automatic one. */
    rename: (id: string, title: string) =>
      call<T.Conversation>('PUT', at('conversations', id), { title }),
  },
  logs: (query: Readonly<Record<string, string>>) =>
    call<T.Logs>('GET', `/console/logs?${new URLSearchParams(query)}`),
  usage: (app?: string) => call<T.Usage>('GET', `/console/usage${queryOf({ app_id: app })}`),
  /** The models that the channel of the tenant lists. */
  models: () => call<T.ModelList>('GET', '/console/models'),
  /** Runs a tiny turn and reports whether the tenant's channel answered. */
  checkAgent: () => call<T.AgentCheck>('POST', '/console/agent/check'),
  /** Asks as a program does, with a key. */
  completion: ({ key, model, question }: { key: string; model: string; question: string }) => {
    const body = { model, messages: [{ role: 'user', content: question }] }
    return call<T.Completion>('POST', '/v1/chat/completions', body, key)
  },
  status: () => call<T.Status>('GET', '/status?format=json'),
  openapi: () => call<unknown>('GET', '/openapi.json'),
}
