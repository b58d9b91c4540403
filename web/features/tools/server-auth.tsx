import {
  MCP_CLIENT_ID_CHARS_MAX,
  MCP_CLIENT_SECRET_CHARS_MAX,
  MCP_HEADER_NAME_CHARS_MAX,
  MCP_HEADER_VALUE_CHARS_MAX,
  MCP_SCOPES_CHARS_MAX,
} from '../../../src/core/limits/contract.ts'
import type { McpServer, McpServerInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import type { KnownServer } from './known.ts'

type Auth = McpServer['auth']

/** How a server is told who asks, as the form has it. */
interface AuthForm {
  readonly auth: Auth
  readonly header: string
  readonly value: string
  readonly client: string
  readonly secret: string
  readonly scopes: string
}

/** Which secrets stay as they are stored when the form leaves them blank. */
interface KeptSecrets {
  readonly header: boolean
  readonly secret: boolean
}

export const authOf = (server: McpServer | null, known?: KnownServer): AuthForm => ({
  auth: server?.auth ?? (known?.header ? 'header' : 'none'),
  header: server?.header_name ?? (known?.header ? 'Authorization' : ''),
  value: '',
  client: server?.client_id ?? '',
  secret: '',
  scopes: server?.scopes ?? '',
})

/** The fields that the chosen way has; those of other ways are left out. */
export function inputOf({ auth, header, value, client, secret, scopes }: AuthForm) {
  const isHeader = auth === 'header'
  const isToken = auth === 'oauth' || auth === 'client_credentials'
  return {
    auth,
    header_name: isHeader ? header.trim() || null : null,
    header_value: isHeader ? value || null : null,
    client_id: isToken ? client.trim() || null : null,
    client_secret: isToken ? secret || null : null,
    scopes: isToken ? scopes.trim() || null : null,
  }
}

export function isComplete(input: Omit<McpServerInput, 'name' | 'url'>, kept: KeptSecrets) {
  const { auth, header_name, header_value, client_id, client_secret } = input
  if (auth === 'header') return header_name !== null && (header_value !== null || kept.header)
  if (auth !== 'client_credentials') return true
  return client_id !== null && (client_secret !== null || kept.secret)
}

interface AuthFieldsProps {
  readonly server: McpServer | null
  readonly fields: AuthForm
  readonly onFields: (fields: AuthForm) => void
  readonly isKept: KeptSecrets
}

export function AuthFields({ server, fields, onFields, isKept }: AuthFieldsProps) {
  const { t } = useI18n()
  const ways: readonly Auth[] = ['none', 'header', 'oauth', 'client_credentials']
  const put = (more: Partial<AuthForm>) => onFields({ ...fields, ...more })
  const props = { server, fields, onFields: put, isKept }
  return (
    <>
      <SelectField
        label={t('tools.auth')}
        value={fields.auth}
        choices={ways.map((value) => ({ value, label: t(`tools.auth.${value}`) }))}
        onPick={(value) => put({ auth: ways.find((one) => one === value) ?? 'none' })}
      />
      {fields.auth === 'header' && <HeaderFields {...props} />}
      {(fields.auth === 'oauth' || fields.auth === 'client_credentials') && (
        <ClientFields {...props} />
      )}
    </>
  )
}

type PartProps = Omit<AuthFieldsProps, 'onFields'> & {
  readonly onFields: (more: Partial<AuthForm>) => void
}

function HeaderFields({ server, fields, onFields, isKept }: PartProps) {
  const { t } = useI18n()
  const isLost = server?.header_tail && !isKept.header && fields.value === ''
  return (
    <div className="grid items-start gap-5 sm:grid-cols-[2fr_3fr]">
      <TextField
        label={t('tools.header')}
        placeholder="Authorization"
        value={fields.header}
        required
        maxLength={MCP_HEADER_NAME_CHARS_MAX}
        autoCapitalize="none"
        onText={(header) => onFields({ header })}
      />
      <TextField
        label={t('tools.value')}
        hint={t(isLost ? 'tools.value.again' : 'tools.value.hint')}
        type="password"
        autoComplete="off"
        placeholder={isKept.header ? `•••• ${server?.header_tail}` : 'Bearer …'}
        value={fields.value}
        required={!isKept.header}
        maxLength={MCP_HEADER_VALUE_CHARS_MAX}
        onText={(value) => onFields({ value })}
      />
    </div>
  )
}

function ClientFields({ server, fields, onFields, isKept }: PartProps) {
  const { t } = useI18n()
  const isOAuth = fields.auth === 'oauth'
  const redirect = `${location.origin}/auth/mcp/callback`
  return (
    <>
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <TextField
          label={t('tools.client')}
          hint={isOAuth ? t('tools.client.hint', { redirect }) : undefined}
          value={fields.client}
          required={!isOAuth}
          maxLength={MCP_CLIENT_ID_CHARS_MAX}
          autoCapitalize="none"
          onText={(client) => onFields({ client })}
        />
        <TextField
          label={t('tools.secret')}
          hint={isOAuth ? t('tools.secret.hint') : undefined}
          type="password"
          autoComplete="off"
          placeholder={isKept.secret ? `•••• ${server?.client_secret_tail}` : ''}
          value={fields.secret}
          required={!isOAuth && !isKept.secret}
          maxLength={MCP_CLIENT_SECRET_CHARS_MAX}
          onText={(secret) => onFields({ secret })}
        />
      </div>
      <TextField
        label={t('tools.scopes')}
        hint={t('tools.scopes.hint')}
        value={fields.scopes}
        maxLength={MCP_SCOPES_CHARS_MAX}
        autoCapitalize="none"
        onText={(scopes) => onFields({ scopes })}
      />
    </>
  )
}
