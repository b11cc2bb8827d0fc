// Texts that a person may paste.
#pragma once

#include <string>

namespace strato {

inline const std::string kMegatron =
    "torchrun --nproc_per_node 4 --nnodes 2 pretrain_gpt.py \\\n"
    "  --num-layers 8 --hidden-size 512 --ffn-hidden-size 1024 --num-attention-heads 8 \\\n"
    "  --seq-length 256 --normalization RMSNorm --swiglu --position-embedding-type rope \\\n"
    "  --disable-bias-linear --untie-embeddings-and-output-weights --bf16 \\\n"
    "  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 \\\n"
    "  --micro-batch-size 1 --global-batch-size 48\n";

inline const std::string kConfig =
    R"({"_name_or_path": "some/Small-Llama", "model_type": "llama", "vocab_size": 640,
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
        "rms_norm_eps": 1e-5})";

inline const std::string kDeepSpeed =
    R"({"train_batch_size": 256, "zero_optimization": {"stage": 3}})";

}  // namespace strato
