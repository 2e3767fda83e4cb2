/** What people do to the objects beside Controller and NodeSets: Accounting, LoginSet, RestApi, Tokens, keys. */
import { randomBytes } from 'node:crypto';
import { conditionType } from '@slurm-operator/api';
import { currentCondition } from '@slurm-operator/demo/waiting';
import { imageTag } from '@slurm-operator/images';
import { draftOf, secrets, services } from '@slurm-operator/kube';
import { accountings, controllers, loginSets, restApis, tokens } from '@slurm-operator/operator';
import { namespace } from '../../slurm-stage.ts';
import { until } from '../../until.ts';
import { type Operation, patch, type Run } from './operation.ts';

const keyRefs = {
  slurmKeyRef: { name: 'keys', key: 'slurm.key' },
  jwtKeyRef: { name: 'keys', key: 'jwt.key' },
};

const rotateSlurmKey: Run = async ({ stage }) => {
  const data = { 'slurm.key': randomBytes(768).toString('base64') };
  await stage.client.mergePatch(secrets, { namespace, name: 'keys' }, { data });
  return 'a new slurm.key';
};

const rotateJwtKey: Run = async ({ stage }) => {
  await stage.rotateJwtKey();
  return 'a new jwt.key';
};

/** One step of its life: created, used by the Controller, no longer used, deleted. The database stays. */
const stepAccounting: Run = async (soak) => {
  const { stage, outages } = soak;
  const at = { namespace, name: 'main' };
  const accounting = await stage.client.find(accountings, at);
  const isUsed = (await stage.client.get(controllers, at)).spec.accountingRef?.name === 'main';
  if (accounting === undefined) {
    await stage.create(accountings, 'Accounting', 'main', {
      ...keyRefs,
      slurmdbd: { image: imageTag('slurmdbd', stage.version) },
      storageConfig: {
        host: 'mariadb',
        username: 'slurm',
        passwordKeyRef: { name: 'mariadb', key: 'password' },
      },
    });
    return 'create the Accounting';
  }
  if (isUsed) {
    await patch(soak, controllers, 'main', { accountingRef: null });
    outages.restarts.push(Date.now());
    return 'the Controller uses the Accounting no more';
  }
  const ready = currentCondition(accounting, conditionType.ready)?.status === 'True';
  if (ready && soak.random.below(3) > 0) {
    await patch(soak, controllers, 'main', { accountingRef: { name: 'main' } });
    outages.restarts.push(Date.now());
    return 'the Controller uses the Accounting';
  }
  await stage.client.delete(accountings, at);
  return `delete the Accounting, which was ${ready ? 'ready and unused' : 'not ready yet'}`;
};

const toggleLoginSet: Run = async ({ stage }) => {
  const at = { namespace, name: 'login' };
  if ((await stage.client.find(loginSets, at)) !== undefined) {
    await stage.client.delete(loginSets, at);
    return 'delete the LoginSet';
  }
  await stage.create(loginSets, 'LoginSet', 'login', {
    controllerRef: { name: 'main' },
    login: { image: imageTag('login', stage.version) },
    sssdConfRef: { name: 'sssd', key: 'sssd.conf' },
  });
  return 'create the LoginSet';
};

const changeLoginSet: Run = async (soak) => {
  const replicas = soak.random.below(3);
  const rolled = String(soak.random.below(1e9));
  if ((await soak.stage.client.find(loginSets, { namespace, name: 'login' })) === undefined)
    return 'no LoginSet to change';
  await patch(soak, loginSets, 'login', { replicas, template: { metadata: { annotations: { rolled } } } });
  return `${replicas} login nodes of a new template`;
};

const changeRestApi: Run = async (soak) => {
  const replicas = 1 + soak.random.below(2);
  await patch(soak, restApis, 'main', { replicas });
  return `${replicas} slurmrestd`;
};

const restartRestApi: Run = async (soak) => {
  const rolled = String(soak.random.below(1e9));
  await patch(soak, restApis, 'main', { template: { metadata: { annotations: { rolled } } } });
  return 'a new template of slurmrestd';
};

/** Without it neither the operator nor this soak hears of Slurm until it is there again. */
const recreateRestApi: Run = async ({ stage }) => {
  const at = { namespace, name: 'main' };
  const { spec } = await stage.client.get(restApis, at);
  const service = { namespace, name: 'main-restapi' };
  const before = (await stage.client.find(services, service))?.metadata.uid;
  await stage.client.delete(restApis, at);
  await stage.client.create(
    restApis,
    draftOf(restApis, {
      apiVersion: restApis.apiVersion,
      kind: restApis.kind,
      metadata: at,
      spec,
    }),
  );
  await until(
    'the Service of slurmrestd is there again',
    async () => {
      const uid = (await stage.client.find(services, service))?.metadata.uid;
      return uid !== undefined && uid !== before;
    },
    { seconds: 300 },
  );
  await stage.reconnect();
  return 'delete the RestApi and create it again';
};

const toggleToken: Run = async ({ stage }) => {
  const at = { namespace, name: 'alice' };
  if ((await stage.client.find(tokens, at)) !== undefined) {
    await stage.client.delete(tokens, at);
    return 'delete Token alice';
  }
  const spec = { username: 'slurm', jwtKeyRef: { name: 'keys', key: 'jwt.key' } };
  await stage.create(tokens, 'Token', 'alice', spec);
  return 'create Token alice';
};

export const ofOtherObjects: readonly Operation[] = [
  { kind: 'rotate slurm.key', needs: ['keys'], run: rotateSlurmKey },
  { kind: 'rotate jwt.key', needs: ['keys'], run: rotateJwtKey },
  { kind: 'create, use or delete the Accounting', weight: 2, needs: ['Accounting'], run: stepAccounting },
  { kind: 'create or delete the LoginSet', needs: ['LoginSet'], run: toggleLoginSet },
  { kind: 'change the LoginSet', needs: ['LoginSet'], run: changeLoginSet },
  { kind: 'change the RestApi', needs: ['RestApi'], run: changeRestApi },
  { kind: 'roll slurmrestd out', needs: ['RestApi'], run: restartRestApi },
  { kind: 'delete and create the RestApi', needs: ['RestApi'], run: recreateRestApi },
  { kind: 'create or delete a Token', needs: ['Token'], run: toggleToken },
];
