//! The operator on kube-rs: a ConfigMap for every Greeter, then its status.
//!
//! Both go by server-side apply, as its documentation teaches it. The child is applied on every
//! reconcile, since nothing remembers what was applied; the status only if it differs.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, CustomResource, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
    runtime::{
        controller::{Action, Config, Controller},
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const RETRY: Duration = Duration::from_secs(1);

#[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "bench.quintant.dev", version = "v1", kind = "Greeter", namespaced)]
#[kube(status = "GreeterStatus")]
struct GreeterSpec {
    message: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
struct GreeterStatus {
    greeted: Option<bool>,
}

async fn reconcile(greeter: Arc<Greeter>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let client = client.as_ref().clone();
    let namespace = greeter.namespace().unwrap_or_default();
    let name = greeter.name_any();
    let parameters = PatchParams::apply("greeter").force();

    let child = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            namespace: Some(namespace.clone()),
            owner_references: Some(greeter.controller_owner_ref(&()).into_iter().collect()),
            ..ObjectMeta::default()
        },
        data: Some([("text".to_owned(), greeter.spec.message.clone())].into()),
        ..ConfigMap::default()
    };
    Api::<ConfigMap>::namespaced(client.clone(), &namespace)
        .patch(&name, &parameters, &Patch::Apply(&child))
        .await?;

    let greeted = greeter.status.as_ref().and_then(|status| status.greeted);
    if greeted != Some(true) {
        let status = json!({
            "apiVersion": Greeter::api_version(&()),
            "kind": Greeter::kind(&()),
            "status": {"greeted": true},
        });
        Api::<Greeter>::namespaced(client, &namespace)
            .patch_status(&name, &parameters, &Patch::Apply(&status))
            .await?;
    }
    Ok(Action::await_change())
}

fn retry(_: Arc<Greeter>, _: &kube::Error, _: Arc<Client>) -> Action {
    Action::requeue(RETRY)
}

#[tokio::main]
async fn main() {
    let workers: u16 = std::env::var("BENCH_WORKERS")
        .expect("BENCH_WORKERS is set")
        .parse()
        .expect("BENCH_WORKERS is a number");
    let client = Client::try_default().await.expect("a kubeconfig");
    Controller::new(
        Api::<Greeter>::all(client.clone()),
        watcher::Config::default(),
    )
    .owns(
        Api::<ConfigMap>::all(client.clone()),
        watcher::Config::default(),
    )
    .with_config(Config::default().concurrency(workers))
    .shutdown_on_signal()
    .run(reconcile, retry, Arc::new(client))
    .for_each(|_| async {})
    .await;
}
