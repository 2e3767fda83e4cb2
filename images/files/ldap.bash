#!/bin/bash
# slapd on port 1389 with one database for LDAP_SUFFIX (default dc=example,dc=org), whose cn=admin has
# LDAP_ADMIN_PASSWORD, filled from /seed/*.ldif at the first start. Arguments are slapd's.
set -euo pipefail

suffix=${LDAP_SUFFIX:-dc=example,dc=org}
config=/run/slapd/config
data=/var/lib/ldap
# In LDIF, a value in base64 is that value and nothing else.
encoded() { printf '%s' "$1" | base64 --wrap=0; }

rm -rf "$config"
install -d -m 0700 "$config"
{
  printf 'dn: cn=config\nobjectClass: olcGlobal\ncn: config\nolcPidFile: /run/slapd/slapd.pid\n\n'
  printf 'dn: cn=module{0},cn=config\nobjectClass: olcModuleList\ncn: module{0}\nolcModulePath: /usr/lib/ldap\nolcModuleLoad: back_mdb\n\n'
  printf 'dn: cn=schema,cn=config\nobjectClass: olcSchemaConfig\ncn: schema\n\n'
  for schema in core cosine nis inetorgperson; do printf 'include: file:///etc/ldap/schema/%s.ldif\n' "$schema"; done
  printf '\ndn: olcDatabase={1}mdb,cn=config\nobjectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\n'
  printf 'olcDatabase: {1}mdb\nolcDbDirectory: %s\nolcDbIndex: objectClass eq\nolcDbIndex: uid,uidNumber,gidNumber,memberUid eq\n' "$data"
  printf 'olcSuffix:: %s\nolcRootDN:: %s\n' "$(encoded "$suffix")" "$(encoded "cn=admin,$suffix")"
  if [[ -n ${LDAP_ADMIN_PASSWORD:-} ]]; then printf 'olcRootPW:: %s\n' "$(encoded "$LDAP_ADMIN_PASSWORD")"; fi
  printf 'olcAccess: to attrs=userPassword by self write by anonymous auth by * none\nolcAccess: to * by * read\n\n'
} | slapadd -n 0 -F "$config" -l /dev/stdin

if [[ ! -e $data/data.mdb ]]; then
  for seed in /seed/*.ldif; do
    if [[ -e $seed ]]; then slapadd -n 1 -F "$config" -l "$seed"; fi
  done
fi
exec slapd -F "$config" -h 'ldap://0.0.0.0:1389/' -d stats "$@"
