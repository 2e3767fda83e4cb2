/** The images, for programs: what they are called, and how each is built without Docker. */
export { billOfMaterials, component, debianComponent } from './bill-of-materials.ts';
export { buildAllImages } from './build-all-images.ts';
export { type BuiltImage, buildImage, imageTag } from './build-image.ts';
export { buildOperatorImage, operatorImage } from './operator/build-operator-image.ts';
export { sbomPath as operatorSbomPath } from './operator/operator-files.ts';

export { type ImageName, recipes } from './recipes.ts';
export { type SlurmVersion, slurmVersions } from './slurm-version.ts';
