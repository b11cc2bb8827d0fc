// Tells files of models from other files. Thread-safe, no state.
#pragma once

#include <filesystem>

namespace strato {

class JsonView;
class PluginRegistry;

// Whether this is the root of a configuration that describes a model, as Hugging Face's config.json
// does. Our own files (clusters, plans, profiles) have a "format".
bool describes_model(const JsonView& root);

// Whether there is an importer for files of its extension.
bool has_importer(const PluginRegistry& plugins, const std::filesystem::path& file);
// Throws InputError for a file that is nothing of what can be opened here.
[[noreturn]] void refuse_unknown_file(const std::filesystem::path& file);

}  // namespace strato
