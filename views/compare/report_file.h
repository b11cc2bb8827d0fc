// A page for people without the tool, made and written in the background.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "views/models/session.h"
#include "views/models/worker.h"

namespace strato {

// `owner` has the worker, and its thread tells the session how it went. `make` may throw.
void write_report(QObject& owner, Session& session, Worker& worker,
                  const std::filesystem::path& file, std::function<std::string()> make);

}  // namespace strato
