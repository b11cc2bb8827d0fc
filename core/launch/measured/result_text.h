// A job's result as one text, for the workspace.
#pragma once

#include <string>

#include "core/launch/job/job_result.h"

namespace strato {

std::string result_text(const JobResult& result);  // JSON
// Throws InputError (file: `name`) for anything that result_text() did not make.
JobResult parse_result(const std::string& text, const std::string& name);

}  // namespace strato
