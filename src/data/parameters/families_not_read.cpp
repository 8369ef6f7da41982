#include "data/parameters/families.hpp"

namespace attn {

namespace {

// Decoders, encoders, and models of images and sounds, each with what of it is not read.
constexpr ModelFamily unread_model_families[] = {
    {.type = "mixtral", .title = "Mixtral", .layouts = {}, .unread = "experts"},
    {.type = "qwen2_moe", .title = "Qwen2 MoE", .layouts = {}, .unread = "experts"},
    {.type = "qwen3_moe", .title = "Qwen3 MoE", .layouts = {}, .unread = "experts"},
    {.type = "qwen3_next", .title = "Qwen3-Next", .layouts = {}, .unread = "experts and linear attention"},
    {.type = "deepseek_v2", .title = "DeepSeek-V2", .layouts = {}, .unread = "latent attention and experts"},
    {.type = "deepseek_v3", .title = "DeepSeek-V3", .layouts = {}, .unread = "latent attention and experts"},
    {.type = "gpt_oss", .title = "gpt-oss", .layouts = {}, .unread = "experts and attention sinks"},
    {.type = "olmoe", .title = "OLMoE", .layouts = {}, .unread = "experts"},
    {.type = "phimoe", .title = "Phi-3.5-MoE", .layouts = {}, .unread = "experts"},
    {.type = "llama4_text", .title = "Llama 4", .layouts = {}, .unread = "experts"},
    {.type = "llama4", .title = "Llama 4", .layouts = {}, .unread = "experts"},
    {.type = "gemma3", .title = "Gemma 3 with pictures", .layouts = {}, .unread = "models of texts and pictures"},
    {.type = "gemma3n", .title = "Gemma 3n", .layouts = {}, .unread = "its nested layers"},
    {.type = "mamba", .title = "Mamba", .layouts = {}, .unread = "state spaces"},
    {.type = "mamba2", .title = "Mamba 2", .layouts = {}, .unread = "state spaces"},
    {.type = "falcon_mamba", .title = "Falcon Mamba", .layouts = {}, .unread = "state spaces"},
    {.type = "jamba", .title = "Jamba", .layouts = {}, .unread = "state spaces and experts"},
    {.type = "rwkv", .title = "RWKV", .layouts = {}, .unread = "recurrent layers"},
    {.type = "recurrent_gemma", .title = "RecurrentGemma", .layouts = {}, .unread = "recurrent layers"},
    {.type = "falcon", .title = "Falcon", .layouts = {}, .unread = "its packed projections and its positions"},
    {.type = "bloom", .title = "Bloom", .layouts = {}, .unread = "its positions (ALiBi)"},
    {.type = "mpt", .title = "MPT", .layouts = {}, .unread = "its positions (ALiBi)"},
    {.type = "opt", .title = "OPT", .layouts = {}, .unread = "its positions, which begin at 2, and its projections"},
    {.type = "gptj", .title = "GPT-J", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "phi", .title = "Phi", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "cohere", .title = "Command R", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "cohere2", .title = "Command R7B", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "olmo", .title = "OLMo", .layouts = {}, .unread = "norms without parameters"},
    {.type = "olmo3", .title = "OLMo 3", .layouts = {}, .unread = "scaled positions of some layers"},
    {.type = "starcoder2", .title = "StarCoder 2", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "gpt_bigcode", .title = "GPT BigCode", .layouts = {}, .unread = "its packed projections"},
    {.type = "stablelm", .title = "StableLM", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "granite", .title = "Granite", .layouts = {}, .unread = "its multipliers"},
    {.type = "smollm3", .title = "SmolLM3", .layouts = {}, .unread = "layers without positions"},
    {.type = "nemotron", .title = "Nemotron", .layouts = {}, .unread = "its norms and its activation"},
    {.type = "minicpm", .title = "MiniCPM", .layouts = {}, .unread = "its multipliers"},
    {.type = "glm4", .title = "GLM-4", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "chatglm", .title = "ChatGLM", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "xglm", .title = "XGLM", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "codegen", .title = "CodeGen", .layouts = {}, .unread = "its packed projections"},
    {.type = "ctrl", .title = "CTRL", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "albert", .title = "ALBERT", .layouts = {}, .unread = "embeddings of another size"},
    {.type = "electra",
     .title = "ELECTRA",
     .layouts = {},
     .unread = "its discriminator and embeddings of another size"},
    {.type = "deberta", .title = "DeBERTa", .layouts = {}, .unread = "scores of contents and distances"},
    {.type = "deberta-v2", .title = "DeBERTa v2", .layouts = {}, .unread = "scores of contents and distances"},
    {.type = "xlnet", .title = "XLNet", .layouts = {}, .unread = "two streams of attention"},
    {.type = "mpnet", .title = "MPNet", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "longformer", .title = "Longformer", .layouts = {}, .unread = "windows beside global attention"},
    {.type = "big_bird", .title = "BigBird", .layouts = {}, .unread = "blocks of sparse attention"},
    {.type = "modernbert", .title = "ModernBERT", .layouts = {}, .unread = "local layers with their own rotation"},
    {.type = "umt5", .title = "UMT5", .layouts = {}, .unread = "buckets of distances in every layer"},
    {.type = "longt5", .title = "LongT5", .layouts = {}, .unread = "blocks of local attention"},
    {.type = "switch_transformers", .title = "Switch Transformers", .layouts = {}, .unread = "experts"},
    {.type = "mbart", .title = "mBART", .layouts = {}, .unread = "the names of its norms"},
    {.type = "pegasus", .title = "Pegasus", .layouts = {}, .unread = "the names of its norms"},
    {.type = "marian", .title = "Marian", .layouts = {}, .unread = "the positions of its files"},
    {.type = "whisper", .title = "Whisper", .layouts = {}, .unread = "convolutions of sound"},
    {.type = "clip", .title = "CLIP", .layouts = {}, .unread = "two encoders side by side"},
    {.type = "swin", .title = "Swin", .layouts = {}, .unread = "windows of an image"},
    {.type = "deit", .title = "DeiT", .layouts = {}, .unread = "its second token"},
};

}  // namespace

std::span<const ModelFamily> families_not_read() { return unread_model_families; }

}  // namespace attn
