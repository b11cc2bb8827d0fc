// train.py, the program that the exported folder is run by.
#pragma once

namespace strato::pytorch_export {

extern const char* const kTrainText;

}  // namespace strato::pytorch_export
