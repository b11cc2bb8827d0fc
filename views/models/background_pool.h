// Threads for work of the views that takes long. Not Qt's own pool: painting hands parts of large
// areas to that one and waits for them, and would wait for whatever is before them in it. Like that
// one it is waited for when the application ends.
#pragma once

class QThreadPool;

namespace strato {

QThreadPool* background_pool();

}  // namespace strato
