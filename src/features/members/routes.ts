import { appError } from '../../core/errors.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import {
  InvitedMember,
  InviteRequest,
  Member,
  MemberDeleteResponse,
  MemberPutRequest,
  MembersResponse,
} from './model.ts'
import type { Members } from './service.ts'

const invite = jsonBody(InviteRequest)
const change = jsonBody(MemberPutRequest)
const REMOVAL_QUERY = queryDoc({
  keys: 'revoke ends the keys that the member has made, too',
  talks: 'delete deletes what the member has said on the console, too',
})

/** Nobody's talks stay because a word was misspelt. Throws `query_invalid`. */
function isAsked(query: URLSearchParams, field: string, word: 'revoke' | 'delete'): boolean {
  const given = query.get(field) ?? 'keep'
  if (given !== 'keep' && given !== word) throw appError('query_invalid', { field })
  return given === word
}

/** The members of the tenant, below /console; http/roles.ts says who may call what. */
export const memberRoutes = (on: Gated, members: Members) =>
  on
    .get('/members', ({ principal }) => members.list(principal.tenantId), {
      allow: ['session'],
      response: MembersResponse,
      detail: { summary: 'List members and invitations' },
    })
    .post(
      '/members',
      async ({ principal, request, upload, set }) => {
        const member = await members.invite(principal, await invite.read(request, upload))
        set.status = 201
        return member
      },
      {
        allow: ['session'],
        parse: 'none',
        response: { 201: InvitedMember },
        detail: { summary: 'Invite a person by e-mail address', requestBody: invite.doc },
      },
    )
    .put(
      '/members/:id',
      async ({ principal, params, request, upload }) => {
        const given = await change.read(request, upload)
        return members.change(principal.tenantId, params.id, given)
      },
      {
        allow: ['session'],
        parse: 'none',
        response: Member,
        detail: { summary: 'Change the role or the limit of a member', requestBody: change.doc },
      },
    )
    .delete(
      '/members/:id',
      ({ principal, params, request }) => {
        const query = new URL(request.url).searchParams
        const also = {
          keys: isAsked(query, 'keys', 'revoke'),
          talks: isAsked(query, 'talks', 'delete'),
        }
        return members.remove(principal, params.id, also)
      },
      {
        allow: ['session'],
        response: MemberDeleteResponse,
        detail: { summary: 'Remove a member, or leave', parameters: REMOVAL_QUERY },
      },
    )
