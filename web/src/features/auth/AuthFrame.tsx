export * from "@/ui/AuthFrame";
