#include "core/io/digest_json.h"

#include "core/base/error.h"

namespace strato {

Digest read_digest(const JsonView& view) {
  try {
    return Digest::from_hex(view.string());
  } catch (const InputError& error) {
    if (!error.place().empty()) throw;
    view.fail(error.problem(), error.remedy());
  }
}

}  // namespace strato
