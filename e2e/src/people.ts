/** A directory with one person in it, and how sssd finds her. */
export const password = 'wonderland';

/** Alice and her group under that name; `more` are further lines about her. */
export const alice = (base: string, more = ''): string => `dn: uid=alice,${base}
objectClass: inetOrgPerson
objectClass: posixAccount
cn: Alice
sn: Example
uid: alice
uidNumber: 5001
gidNumber: 5001
homeDirectory: /tmp
loginShell: /bin/bash
userPassword: ${password}
${more}
dn: cn=alice,${base}
objectClass: posixGroup
cn: alice
gidNumber: 5001
`;

export const people = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

${alice('ou=people,dc=example,dc=org')}`;

/** By address: what a resolver makes of search domains is not what is tested here. */
export const sssdConf = (ldap: string) => `[sssd]
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
