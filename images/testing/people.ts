/** A directory with one person in it for the image `ldap`, and how sssd finds her there. */
export const password = 'wonderland';

/** Alice and her group, as a seed for the directory. */
export const people = ({
  suffix = 'dc=example,dc=org',
  home = '/tmp',
  more = '',
}: {
  /** What the directory is for. @default that of the image */
  readonly suffix?: string;
  readonly home?: string;
  /** Further lines about her. */
  readonly more?: string;
} = {}): string => `dn: ${suffix}
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: uid=alice,${suffix}
objectClass: inetOrgPerson
objectClass: posixAccount
cn: Alice
sn: Example
uid: alice
uidNumber: 5001
gidNumber: 5001
homeDirectory: ${home}
loginShell: /bin/bash
userPassword: ${password}
${more}
dn: cn=alice,${suffix}
objectClass: posixGroup
cn: alice
gidNumber: 5001
`;

/** `ldap`: an address, because what a resolver makes of search domains is not what is tested here. */
export const sssdConf = (ldap: string): string => `[sssd]
services = nss, pam
domains = example
[domain/example]
id_provider = ldap
auth_provider = ldap
ldap_uri = ldap://${ldap}:1389
ldap_search_base = dc=example,dc=org
ldap_id_use_start_tls = false
ldap_auth_disable_tls_never_use_in_production = true
`;
