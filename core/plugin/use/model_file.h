// Tells files of models from other JSON files. Thread-safe, no state.
#pragma once

namespace strato {

class JsonView;

// Whether this is the root of a configuration that describes a model, as Hugging Face's config.json
// does. Our own files (clusters, plans, profiles) have a "format".
bool describes_model(const JsonView& root);

}  // namespace strato
